// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements. Text from the report becomes text nodes and attributes only, never markup.

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
const $ = (id) => document.getElementById(id);
const number = (value) => value.toLocaleString("en");
const counted = (count, one, many) => number(count) + " " + (count === 1 ? one : many);
