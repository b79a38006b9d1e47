// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything about the selected section.

const badge = (name) => h("span", { class: "badge " + name, title: kClassMeaning[name] }, h("span", { class: "dot " + name }), name);
const chips = (list) => list.map((text) => h("span", { class: "chip" }, text));
const sectionLink = (section) =>
  h("a", { href: "#section=" + encodeURIComponent(section.name), onclick: (event) => { event.preventDefault(); choose(section); } }, section.name);

// A list that begins with its first items and shows the others when asked.
function cut(items, most, what) {
  if (items.length <= most + 1) return items;
  const rest = items.slice(most);
  const more = h("button", { type: "button", class: "link", onclick: () => more.replaceWith(...rest) }, `${rest.length} more ${what}`);
  return [...items.slice(0, most), more];
}

const part = (title, count, ...children) =>
  [h("h3", {}, title, count === null ? null : h("span", { class: "count" }, number(count))), ...children];

function facts(section) {
  const list = [["Place", place(section.file, section.line)]];
  if (section.lock) {
    const { kind, primitive, shared: reader, exits, shape } = section.lock;
    list.push(["Lock", lockNames(section)],
      ["Region", `${kind}, ${primitive}${reader ? ", held as a reader" : ""}, ${counted(exits, "exit", "exits")}, ${shape}`]);
  }
  list.push(["Colours", section.colours.length ? chips(section.colours) : "none: it excludes nothing"]);
  list.push(["Locks taken", section.locks.length ? section.locks.map(([colour, mode]) => h("span", { class: "chip" }, colour + " " + mode)) : "none"]);
  if (section.at !== "never")
    list.push(["Irrevocable", section.at === "begin" ? "from its beginning" : "only when it reaches the call"]);
  if (section.strict) list.push(["Strict", "promises to be revocable (TANDEM_ATOMIC_STRICT)"]);
  return h("dl", { class: "facts" }, list.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

function sourcePart(section) {
  const marks = new Map();
  const mark = (file, line, tag, bad, title) => {
    if (file !== section.file || !line) return;
    const known = marks.get(line) || { tags: "", bad: false, title: "" };
    if (!known.tags.includes(tag)) known.tags = [..."RW!"].filter((each) => each === tag || known.tags.includes(each)).join("");
    marks.set(line, { ...known, bad: known.bad || bad, title: known.title ? known.title + "\n" + title : title });
  };
  for (const access of section.accesses)
    mark(access.file, access.line, access.writes ? "W" : "R", false, (access.writes ? "writes " : "reads ") + access.location);
  for (const call of section.irrevocable)
    if (call.places.length) mark(...splitPlace(call.places[0]), "!", true, "leads to " + call.callee);
  marks.set(section.line, { ...(marks.get(section.line) || {}), lit: true });
  const block = codeBlock(section.file, section.line - 2, section.end + 2, marks, [section.line, section.end]);
  return part("Source", null, block ||
    h("p", { class: "explain" }, section.line ? "The source could not be read when this page was made." : "Not known: compiled without -g."));
}

function touchesPart(section) {
  const rows = new Map();
  const row = (name) => rows.get(name) || rows.set(name, { reads: false, writes: false, places: [] }).get(name);
  for (const name of section.reads) row(name).reads = true;
  for (const name of section.writes) row(name).writes = true;
  for (const access of section.accesses) row(access.location).places.push(access);
  const items = [...rows].sort(([left], [right]) => (left < right ? -1 : 1)).map(([name, { reads, writes, places }]) => {
    const first = places[0];
    const rw = h("span", { class: "rw" + (writes ? " w" : ""), title: (reads ? "reads " : "") + (writes ? "writes" : "") }, (reads ? "R" : "") + (writes ? "W" : ""));
    const summary = [rw, h("code", {}, name), first ? h("span", { class: "where mono" }, place(first.file, first.line)) : null];
    if (!first) return h("div", { class: "touch" }, summary);
    return h("details", { "data-location": name },
      h("summary", {}, summary),
      places.map((access) => [
        h("div", { class: "explain" }, `${access.writes ? "written" : "read"} in ${access.inside}, ${place(access.file, access.line)}`),
        around(access.file, access.line)]));
  });
  return part("Touches", items.length, items.length ? cut(items, 40, "locations") : h("p", { class: "explain" }, "No shared location."));
}

function conflictsPart(section) {
  const items = [...section.neighbours].sort(([left], [right]) => left - right).map(([other, set]) =>
    h("li", { "data-with": sections[other].name },
      h("span", { class: "dot " + sections[other].class }), " ",
      other === section.index ? h("span", {}, "itself, in another thread") : sectionLink(sections[other]),
      h("span", { class: "on" }, " on ", cut(sets[set].map((name) => h("code", {}, name + " ")), 6, "locations"))));
  return part("Conflicts with", items.length, items.length
    ? h("ul", { class: "plain" }, cut(items, 30, "sections"))
    : h("p", { class: "explain" }, "Nothing: it may run beside every section."));
}

function chainList(call) {
  return h("ol", { class: "chain" }, call.chain.map((name, at) => {
    const [file, line] = at < call.places.length ? splitPlace(call.places[at]) : ["", 0];
    const text = sourceLine(file, line);
    return h("li", {}, h("code", {}, name), at < call.places.length ? h("span", { class: "explain" }, "  " + call.places[at]) : null,
      text === undefined ? null : h("pre", {}, highlighted(text.trim())));
  }));
}

function irrevocablePart(section) {
  if (section.irrevocable.length === 0) return [];
  const open = section.irrevocable.length <= 4;
  return part("Cannot be undone", section.irrevocable.length, section.irrevocable.map((call) =>
    h("details", { open, "data-callee": call.callee },
      h("summary", {}, h("code", {}, call.callee), " ",
        call.cold ? h("span", { class: "tag", title: "only on an unlikely path" }, "cold path") : null,
        h("span", { class: "explain" }, ` ${counted(call.chain.length - 1, "call", "calls")} away`)),
      chainList(call))));
}

function findingsPart(section) {
  const mine = findings.filter((finding) => finding.section === section.name && !finding.suppressed);
  if (mine.length === 0) return [];
  return part("Findings", mine.length, h("ul", { class: "plain" }, mine.map((finding) =>
    h("li", {}, levelTag(finding), " ", finding.message, h("div", { class: "on" }, `${place(finding.file, finding.line)} [${finding.rule}]`)))));
}

function overview() {
  const classes = ["non-revocable", "hybrid", "pure"];
  const largest = [...sections].sort((left, right) => right.neighbours.size - left.neighbours.size || left.index - right.index)
    .slice(0, 8).filter((section) => section.neighbours.size > 0);
  return [
    h("h2", {}, "No section is selected"),
    h("p", { class: "explain" }, "Select one in the graph or in a table. A line joins two sections that may not run beside each other, " +
      "because one may write what the other reads or writes."),
    part("Classes", null, classes.map((name) => [
      h("div", {}, badge(name), " ", number(sections.filter((section) => section.class === name).length)),
      h("p", { class: "explain" }, kClassMeaning[name])])),
    largest.length === 0 ? null : part("Most conflicts", null, h("ul", { class: "plain" }, largest.map((section) =>
      h("li", {}, h("span", { class: "dot " + section.class }), " ", sectionLink(section),
        h("span", { class: "on" }, ` ${counted(section.neighbours.size, "section", "sections")}`))))),
    part("Keys", null, h("p", { class: "explain" }, "/ filter · arrows move in the graph · Enter selects · + − 0 zoom · [ ] previous and next section · Esc clears")),
  ];
}

function sectionDetails(section) {
  return [
    h("div", { class: "head" },
      h("div", {}, h("h2", { id: "chosen" }, section.name), badge(section.class), " ", h("span", { class: "tag" }, section.kind)),
      h("button", { type: "button", onclick: () => choose(null), "aria-label": "Clear the selection" }, "✕")),
    facts(section), findingsPart(section), irrevocablePart(section), conflictsPart(section), touchesPart(section), sourcePart(section),
  ];
}

function updateDetails() {
  const pane = $("details");
  pane.replaceChildren(...[state.chosen ? sectionDetails(state.chosen) : overview()].flat(Infinity).filter((node) => node !== null));
  pane.scrollTop = 0;
}
