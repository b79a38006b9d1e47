// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For pages that are tables: a filter of their rows, light or dark, keys. What it needs it makes.
"use strict";
(() => {
  const rows = [...document.querySelectorAll("table:not(.matrix) tr")].filter((row) => row.querySelector("td"));
  const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const make = (kind, values) => Object.assign(document.createElement(kind), values);
  const filter = make("input", { type: "search", placeholder: "Filter rows  ( / )", autocomplete: "off", spellcheck: false });
  const theme = make("button", { type: "button", textContent: "◐", title: "Light or dark" });
  const left = make("output", {});
  const bar = make("nav", {});
  filter.setAttribute("aria-label", "Filter rows");
  bar.style.cssText = "display:flex;gap:.6rem;align-items:center;margin:.6rem 0";
  bar.append(filter, left, theme);
  document.querySelector("h1").after(bar);

  const update = () => {
    const words = filter.value.trim().toLowerCase().split(/\s+/);
    let shown = 0;
    for (const row of rows) {
      row.hidden = !words.every((word) => texts.get(row).includes(word));
      if (!row.hidden) ++shown;
    }
    left.textContent = filter.value.trim() === "" ? "" : `${shown} of ${rows.length} rows`;
  };
  const dark = () => {
    const root = document.documentElement.style;
    return root.colorScheme === "" ? matchMedia("(prefers-color-scheme: dark)").matches : root.colorScheme === "dark";
  };
  filter.addEventListener("input", update);
  theme.addEventListener("click", () => { document.documentElement.style.colorScheme = dark() ? "light" : "dark"; });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "/" && document.activeElement !== filter) { filter.focus(); event.preventDefault(); }
    if (event.key === "Escape") { filter.value = ""; update(); filter.blur(); }
  });
  document.documentElement.dataset.ready = "true";
})();
