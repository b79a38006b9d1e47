// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report, with numbers turned into what they stand for. Sections know their neighbours.

const data = JSON.parse($("data").textContent);
const names = data.names;
const nameList = (numbers) => numbers.map((at) => names[at]);

const place = (file, line) => (file ? file : "?") + (line ? ":" + line : "");

const sections = data.sections.map((raw, index) => ({
  ...raw,
  index,
  file: names[raw.file],
  reads: nameList(raw.reads),
  writes: nameList(raw.writes),
  irrevocable: raw.irrevocable.map((call) => ({ ...call, chain: nameList(call.chain), places: nameList(call.places) })),
  accesses: raw.accesses.map(([location, writes, inside, file, line]) => ({
    location: names[location], writes: writes === 1, inside: names[inside], file: names[file], line,
  })),
  neighbours: new Map(), // index of a section: number of a list of locations
}));
for (const [first, second, set] of data.conflicts) {
  sections[first].neighbours.set(second, set);
  sections[second].neighbours.set(first, set);
}
const sectionNamed = new Map(sections.map((section) => [section.name, section]));

const sets = data.sets.map(nameList);
const colours = data.colours.map((colour) => ({ name: colour.name, locations: nameList(colour.locations) }));
const shared = nameList(data.shared);
const findings = data.findings.map((raw) => ({
  ...raw,
  file: names[raw.file],
  notes: raw.notes.map(([file, line, message]) => ({ file: names[file], line, message })),
}));
const sites = data.sites.map((raw) => ({ ...raw, file: names[raw.file] }));
const locations = data.locations.map((raw) => ({ ...raw, name: names[raw.name], file: names[raw.file], users: [] }));

// Which sections touch a location: [section, reads, writes].
{
  const known = new Map(locations.map((location) => [location.name, location]));
  for (const section of sections) {
    const reads = new Set(section.reads);
    const writes = new Set(section.writes);
    for (const name of new Set([...section.reads, ...section.writes])) {
      if (!known.has(name)) {
        const location = { name, kind: "", file: "", line: 0, aliases: [], users: [] };
        known.set(name, location);
        locations.push(location);
      }
      known.get(name).users.push([section, reads.has(name), writes.has(name)]);
    }
  }
  locations.sort((left, right) => (left.name < right.name ? -1 : left.name > right.name ? 1 : 0));
}
const isShared = new Set(shared);
const coloursOf = new Map();
for (const colour of colours)
  for (const name of colour.locations) coloursOf.set(name, [...(coloursOf.get(name) || []), colour.name]);

const lockNames = (section) => (section.lock ? section.lock.names.join(", ") || "?" : "");
const nonRevocableColours = new Set(
  sections.filter((section) => section.class === "non-revocable").flatMap((section) => section.colours));

// What the filter looks at; a section's text names all that it touches.
const searchText = (parts) => parts.flat(Infinity).join("\n").toLowerCase();
for (const section of sections)
  section.text = searchText([section.name, section.file, section.kind, section.class, lockNames(section), section.reads,
    section.writes, section.colours.map((colour) => "colour " + colour), section.irrevocable.map((call) => call.callee)]);

const state = {
  chosen: null, // a section
  view: "graph",
  group: sections.length > 60 ? "lock" : "free",
  filter: "",
  classes: new Set(["non-revocable", "hybrid", "pure"]),
};
// Every word of the filter must occur.
const matches = (text) => state.filter.split(/\s+/).every((word) => text.includes(word));
const isShown = (section) => state.classes.has(section.class) && (state.filter === "" || matches(section.text));
