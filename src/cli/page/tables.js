// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables and the list of findings. A table is {columns, rows}; a row has cells, values to sort by, a text to
// filter by, and the section that selecting it chooses.

function sortable(name, columns, rows, nothing) {
  const body = h("tbody", {});
  let order = { at: -1, down: false };
  const heads = columns.map(([title, kind], at) =>
    h("th", { class: kind, scope: "col", "aria-sort": "none" }, h("button", { type: "button", onclick: () => sort(at) }, title)));
  function sort(at) {
    order = { at, down: order.at === at && !order.down };
    heads.forEach((head, index) => head.setAttribute("aria-sort", index !== at ? "none" : order.down ? "descending" : "ascending"));
    const compare = (left, right) => {
      const [a, b] = [left.values[at], right.values[at]];
      return (a < b ? -1 : a > b ? 1 : 0) * (order.down ? -1 : 1);
    };
    body.append(...[...rows].sort(compare).map((row) => row.element));
  }
  for (const row of rows) {
    const select = row.section && ((event) => { if (!event.target.closest("a, button")) choose(row.section); });
    row.element = h("tr", { class: row.section ? "selects" : null, onclick: select }, row.cells.map((cell, at) => h("td", { class: columns[at][1] }, cell)));
    body.append(row.element);
  }
  const table = h("table", {}, h("caption", { class: "hidden" }, name), h("thead", {}, h("tr", {}, heads)), body);
  const empty = h("p", { class: "empty" }, nothing);
  const panel = h("div", { class: "panel" }, table, empty);
  const refresh = () => {
    let shown = 0;
    for (const row of rows) {
      const on = row.section ? isShown(row.section) : state.filter === "" || matches(row.text);
      row.element.hidden = !on;
      row.element.classList.toggle("chosen", row.section !== undefined && row.section === state.chosen);
      shown += on ? 1 : 0;
    }
    table.hidden = shown === 0;
    empty.hidden = shown > 0;
    empty.textContent = rows.length > 0 ? "Nothing matches the filter." : nothing;
  };
  return { panel, refresh, count: rows.length };
}

function sectionsTable() {
  return sortable("Sections",
    [["Section", "word"], ["Place", "place mono"], ["Kind", "word"], ["Lock"], ["Class", "word"], ["Colours"], ["Reads", "number"], ["Writes", "number"], ["Conflicts", "number"], ["Cannot be undone"]],
    sections.map((section) => {
      const callees = [...new Set(section.irrevocable.map((call) => call.callee))];
      const some = (list, most) => (list.length > most + 1 ? list.slice(0, most).join(", ") + `, ${list.length - most} more` : list.join(", "));
      return {
        section,
        cells: [sectionLink(section), place(section.file, section.line), section.kind, lockNames(section), badge(section.class), some(section.colours, 6),
          number(section.reads.length), number(section.writes.length), number(section.neighbours.size), some(callees, 3)],
        values: [section.name, section.index, section.kind, lockNames(section), ["non-revocable", "hybrid", "pure"].indexOf(section.class),
          section.colours.join(), section.reads.length, section.writes.length, section.neighbours.size, callees.join()],
      };
    }), "No atomic sections and no lock regions.");
}

function sitesTable() {
  return sortable("Lock sites",
    [["Place", "place mono"], ["Operation", "word"], ["Lock"], ["Primitive", "word"], ["Function", "word"], ["Sections, or why not"]],
    sites.map((site, at) => ({
      cells: [place(site.file, site.line), site.operation, h("code", {}, site.lock), site.primitive, site.function,
        [site.sections.map((name) => [sectionLink(sectionNamed.get(name)), " "]), site.reason]],
      values: [at, site.operation, site.lock, site.primitive, site.function, site.sections.join() || site.reason],
      text: searchText([site.file, site.operation, site.lock, site.primitive, site.function, site.sections, site.reason]),
    })), "The report names no lock sites.");
}

function locationsTable() {
  return sortable("Locations",
    [["Location"], ["Kind", "word"], ["Declared", "place mono"], ["Shared"], ["Colours"], ["Readers", "number"], ["Writers", "number"], ["Sections"]],
    locations.map((location) => {
      const readers = location.users.filter(([, reads]) => reads).length;
      const writers = location.users.filter(([, , writes]) => writes).length;
      const own = coloursOf.get(location.name) || [];
      return {
        cells: [[h("code", {}, location.name), location.aliases.length ? h("div", { class: "explain" }, "also " + location.aliases.join(", ")) : null],
          location.kind, location.file ? place(location.file, location.line) : "", isShared.has(location.name) ? "yes" : "", own.join(", "),
          number(readers), number(writers),
          cut(location.users.map(([section, reads, writes]) => h("span", {}, sectionLink(section), ` ${reads ? "R" : ""}${writes ? "W" : ""} `)), 4, "sections")],
        values: [location.name, location.kind, place(location.file, location.line), isShared.has(location.name) ? 0 : 1, own.join(), readers, writers, location.users.length],
        text: searchText([location.name, location.aliases, location.kind, location.file, own.map((name) => "colour " + name)]),
      };
    }), "No section touches a shared location.");
}

function coloursTable() {
  return sortable("Colours", [["Colour"], ["Sections", "number"], ["Non-revocable"], ["Locations"]],
    colours.map((colour, at) => {
      const users = sections.filter((section) => section.colours.includes(colour.name)).length;
      return {
        cells: [colour.name, number(users), nonRevocableColours.has(colour.name) ? "yes" : "", cut(colour.locations.map((name) => h("code", {}, name + "  ")), 12, "locations")],
        values: [at, users, nonRevocableColours.has(colour.name) ? 0 : 1, colour.locations.length],
        text: searchText(["colour " + colour.name, colour.locations]),
      };
    }), "No colours: no two sections conflict.");
}

function threadsTable() {
  return sortable("Threads", [["Function"], ["Kind"], ["At the same time"]],
    data.threads.map((thread) => ({
      cells: [h("code", {}, thread.function), thread.kind, thread.many ? "many" : "one"],
      values: [thread.function, thread.kind, thread.many ? 0 : 1],
      text: searchText([thread.function, thread.kind]),
    })), "The report names no threads.");
}

const levelOf = (finding) => (data.rules[finding.rule] ? data.rules[finding.rule].level : "warning");
const levelTag = (finding) => h("span", { class: "tag " + (finding.suppressed ? "" : levelOf(finding)) }, finding.suppressed ? "suppressed" : levelOf(finding));

function findingsList() {
  const items = findings.map((finding) => {
    const rule = data.rules[finding.rule];
    const section = sectionNamed.get(finding.section);
    return {
      text: searchText([finding.rule, finding.file, finding.message, finding.section, finding.function]),
      element: h("article", { class: "finding" + (finding.suppressed ? " suppressed" : ""), "data-rule": finding.rule },
        h("p", {}, levelTag(finding), " ", h("strong", {}, finding.message), section ? [" · ", sectionLink(section)] : null),
        h("p", { class: "explain" }, h("span", { class: "mono" }, place(finding.file, finding.line)), ` [${finding.rule}]`, rule ? " " + rule.title : ""),
        finding.suppressed ? h("p", { class: "explain" }, `suppressed at ${finding.suppressed.place}` + (finding.suppressed.reason ? ": " + finding.suppressed.reason : "")) : null,
        around(finding.file, finding.line),
        finding.notes.length ? h("ul", {}, finding.notes.map((note) => h("li", {}, h("span", { class: "mono" }, place(note.file, note.line)), " ", note.message))) : null,
        rule ? h("details", {}, h("summary", {}, "What this means"), rule.help.split("\n").map((text) => h("p", { class: "explain" }, text))) : null),
    };
  });
  const empty = h("p", { class: "empty" });
  const panel = h("div", { class: "panel" }, items.map((item) => item.element), empty);
  const refresh = () => {
    let shown = 0;
    for (const item of items) {
      item.element.hidden = !(state.filter === "" || matches(item.text));
      shown += item.element.hidden ? 0 : 1;
    }
    empty.hidden = shown > 0;
    empty.textContent = items.length > 0 ? "Nothing matches the filter." : "No findings.";
  };
  return { panel, refresh, count: findings.filter((finding) => !finding.suppressed).length };
}

function externalsList() {
  const items = data.externals.map((name) => ({ text: searchText([name]), element: h("span", { class: "chip mono" }, name) }));
  const refresh = () => items.forEach((item) => { item.element.hidden = !(state.filter === "" || matches(item.text)); });
  return {
    panel: h("div", { class: "panel" }, h("p", { class: "empty" }, "Functions that the program calls and does not define, and objects without bitcode."),
      h("div", { class: "bar" }, items.map((item) => item.element))),
    refresh, count: items.length,
  };
}
