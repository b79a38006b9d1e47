// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views, selection, the address, keys.

const views = new Map();

function showFigures() {
  const classes = (name) => sections.filter((section) => section.class === name).length;
  const open = findings.filter((finding) => !finding.suppressed).length;
  const figures = [
    [sections.length, "sections"], [classes("non-revocable"), "non-revocable"], [classes("hybrid"), "hybrid"], [classes("pure"), "pure"],
    [data.conflicts.length, "conflicts"], [shared.length, "shared locations"], [colours.length, "colours"],
    [nonRevocableColours.size, "colours of non-revocable sections (NRC)"], [open, open === 1 ? "finding" : "findings"],
  ];
  $("figures").replaceChildren(...figures.map(([value, name]) => h("div", {}, h("dt", {}, name), h("dd", {}, number(value)))));
  $("coverage").textContent = data.coverage;
  $("mode").textContent = data.used === "none" ? "" : `enforced by ${data.used}` + (data.used === data.requested ? "" : ` (${data.requested} is not built yet)`);
  const { mode, seconds, peak_mib: peak, instructions } = data.analysis;
  $("limits").replaceChildren(...data.limits.map((limit) => h("p", {}, `Less precise: ${limit}.`)));
  $("analysis").textContent = `Context-${mode} points-to analysis of ${counted(instructions, "instruction", "instructions")}: ${seconds.toFixed(3)} s, ${peak.toFixed(1)} MiB.`;
}

function addView(id, title, view) {
  const tab = h("button", {
    type: "button", role: "tab", id: "tab-" + id, "aria-controls": "view-" + id, "aria-selected": "false", tabindex: "-1",
    onclick: () => { state.view = id; update(); },
  }, title, view.count === undefined ? null : h("span", { class: "count" }, number(view.count)));
  fill(view.panel, { id: "view-" + id, role: "tabpanel", "aria-labelledby": "tab-" + id, hidden: true }, []);
  $("tabs").append(tab);
  $("panels").append(view.panel);
  views.set(id, { ...view, tab });
}

function onTabKey(event) {
  const ids = [...views.keys()];
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  state.view = ids[(ids.indexOf(state.view) + step + ids.length) % ids.length];
  update();
  views.get(state.view).tab.focus();
}

// #section=NAME&view=ID; what is not there is none, and the graph.
function address() {
  const parts = new URLSearchParams();
  if (state.chosen) parts.set("section", state.chosen.name);
  if (state.view !== "graph") parts.set("view", state.view);
  return "#" + parts.toString();
}
function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  state.chosen = sectionNamed.get(parts.get("section")) || null;
  state.view = views.has(parts.get("view")) ? parts.get("view") : "graph";
  update(false);
  updateDetails();
}

function choose(section) {
  state.chosen = section;
  update();
  updateDetails();
}

function update(write = true) {
  for (const [id, view] of views) {
    const on = id === state.view;
    view.tab.setAttribute("aria-selected", String(on));
    view.tab.setAttribute("tabindex", on ? "0" : "-1");
    view.panel.hidden = !on;
    if (on) view.refresh();
  }
  if (write && location.hash !== address()) history.replaceState(null, "", address() === "#" ? location.pathname + location.search : address());
}

function step(by) {
  const shown = sections.filter(isShown);
  if (shown.length === 0) return;
  const at = shown.indexOf(state.chosen);
  choose(shown[at < 0 ? 0 : (at + by + shown.length) % shown.length]);
}

function onKey(event) {
  const typing = event.target.matches("input, select, textarea");
  if (event.key === "Escape") {
    if (typing && $("filter").value !== "") { $("filter").value = ""; state.filter = ""; update(); } else { event.target.blur?.(); choose(null); }
  } else if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    if (event.key === "/") { $("filter").focus(); event.preventDefault(); }
    else if (event.key === "[") step(-1);
    else if (event.key === "]") step(1);
  }
}

function start() {
  showFigures();
  addView("graph", "Conflict graph", { panel: graphPanel(), refresh: () => { if (!graph.layout && sections.length) drawGraph(); else updateGraph(); } });
  addView("sections", "Sections", sectionsTable());
  addView("findings", "Findings", findingsList());
  addView("locks", "Lock sites", sitesTable());
  addView("locations", "Locations", locationsTable());
  addView("colours", "Colours", coloursTable());
  addView("threads", "Threads", threadsTable());
  addView("externals", "Externals", externalsList());
  $("tabs").addEventListener("keydown", onTabKey);
  $("filter").addEventListener("input", (event) => { state.filter = event.target.value.trim().toLowerCase(); update(); });
  $("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  addEventListener("hashchange", readAddress);
  addEventListener("resize", () => { if (graph.layout && state.view === "graph") fit(); });
  document.addEventListener("keydown", onKey);
  readAddress();
  document.documentElement.dataset.ready = "true";
}

start();
