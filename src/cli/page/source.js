// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Source lines, as far as they are part of the page.

const lineMaps = new Map(); // of a file: line number to text
function linesOf(file) {
  if (!lineMaps.has(file)) {
    const lines = new Map();
    for (const [first, ...texts] of data.files[file] || [])
      texts.forEach((text, at) => lines.set(first + at, text));
    lineMaps.set(file, lines);
  }
  return lineMaps.get(file);
}
const sourceLine = (file, line) => linesOf(file).get(line);

function splitPlace(text) {
  const colon = text.lastIndexOf(":");
  const line = colon < 0 ? NaN : Number(text.slice(colon + 1));
  return Number.isInteger(line) ? [text.slice(0, colon), line] : [text, 0];
}

const kKeywords = new Set(("alignas atomic auto bool break case catch char class const constexpr continue default delete do double " +
  "else enum extern false float for goto if inline int long mutable namespace new nullptr operator private protected public " +
  "register return short signed sizeof static static_assert struct switch template this throw true try typedef typename " +
  "union unsigned using virtual void volatile while size_t NULL").split(" "));
const kTokens = /(\/\/.*|\/\*.*?(?:\*\/|$))|("(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)|([A-Za-z_]\w*)/g;

function highlighted(text) {
  const parts = [];
  let last = 0;
  for (const match of text.matchAll(kTokens)) {
    const kind = match[1] ? "c" : match[2] ? "s" : kKeywords.has(match[3]) || text.startsWith("#", match.index - 1) ? "k" : null;
    if (!kind) continue;
    parts.push(text.slice(last, match.index), h("span", { class: kind }, match[0]));
    last = match.index + match[0].length;
  }
  parts.push(text.slice(last));
  return parts;
}

// Lines `first` to `last` of a file. `marks`: line to {tags, bad, lit}; `inside`: [first, last] of the section.
function codeBlock(file, first, last, marks = new Map(), inside = null) {
  const lines = linesOf(file);
  const rows = [];
  let before = null;
  for (let line = first; line <= last; ++line) {
    if (!lines.has(line)) continue;
    if (before !== null && line !== before + 1) rows.push(h("div", { class: "gap" }, "⋯"));
    before = line;
    const mark = marks.get(line) || {};
    const inner = inside && line >= inside[0] && line <= inside[1];
    rows.push(h("div", { class: "row" + (mark.lit ? " lit" : "") + (inner ? " inside" : ""), "data-line": line },
      h("span", {}, String(line)),
      h("span", { class: "tags" + (mark.bad ? " bad" : ""), title: mark.title }, mark.tags || ""),
      h("span", {}, highlighted(lines.get(line)))));
  }
  if (rows.length === 0) return null;
  return h("div", { class: "code mono", tabindex: "0", role: "region", "aria-label": "Source of " + file }, rows);
}

const around = (file, line, mark = {}) => codeBlock(file, line - 2, line + 2, new Map([[line, { lit: true, ...mark }]]));
