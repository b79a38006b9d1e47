// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The conflict graph: drawn once for each grouping, moved and zoomed by its view box.

const kMostLines = 1500; // more lines than this between sections say nothing; cards are joined instead
const graph = { root: null, nodes: [], box: null, layout: null, chosenLines: null, current: 0 };

const widthOf = (count) => Math.min(1 + 0.6 * (count - 1), 6);

function linePath(layout, first, second) {
  const [ax, ay, bx, by] = [layout.places[2 * first], layout.places[2 * first + 1], layout.places[2 * second], layout.places[2 * second + 1]];
  if (first === second) {
    const radius = nodeRadius(sections[first]) + 3;
    return `M${ax - 3} ${ay - radius + 2}a${radius * 0.7} ${radius * 0.7} 0 1 1 6 0`;
  }
  // A slight bend keeps lines between the same rows apart.
  const bend = layout.beside ? 0.12 : 0.05;
  return `M${ax} ${ay}Q${Math.round((ax + bx) / 2 + (by - ay) * bend)} ${Math.round((ay + by) / 2 - (bx - ax) * bend)} ${bx} ${by}`;
}

const nodeRadius = (section) => (graph.layout.beside ? Math.min(section.radius, 8) : section.radius);

// All lines of one width as one path: thousands of elements would make the page slow.
function drawLines(layout) {
  const buckets = new Map();
  const add = (width, path) => buckets.set(width, (buckets.get(width) || "") + path);
  if (data.conflicts.length <= kMostLines) {
    for (const [first, second, set] of data.conflicts)
      if (first !== second || !layout.beside) add(widthOf(sets[set].length), linePath(layout, first, second));
  } else if (layout.groups.length > 0) {
    const card = [];
    layout.groups.forEach((group, at) => group.members.forEach((member) => { card[member] = at; }));
    const pairs = new Map();
    for (const [first, second] of data.conflicts) {
      const key = Math.min(card[first], card[second]) * layout.groups.length + Math.max(card[first], card[second]);
      if (card[first] !== card[second]) pairs.set(key, (pairs.get(key) || 0) + 1);
    }
    for (const [key, count] of pairs) {
      const [left, right] = [layout.groups[Math.floor(key / layout.groups.length)], layout.groups[key % layout.groups.length]];
      const middle = ({ box: [x, y, width, height] }) => `${x + width / 2} ${y + height / 2}`;
      add(Math.ceil((4 * count) / (left.members.length * right.members.length)), `M${middle(left)}L${middle(right)}`);
    }
  } else {
    add(0.25, data.conflicts.filter(([a, b]) => a !== b).map(([a, b]) => linePath(layout, a, b)).join(""));
  }
  return [...buckets].map(([width, path]) => svg("path", { "stroke-width": width, d: path }));
}

function drawCards(layout) {
  return layout.groups.map((group) => {
    const [x, y, width, height] = group.box;
    const room = Math.floor((width - 60) / 7);
    const shown = group.name.length > room ? group.name.slice(0, room - 1) + "…" : group.name;
    return svg("g", { class: "card" },
      svg("rect", { x, y, width, height, rx: 8 }),
      svg("text", { x: x + 12, y: y + 22 }, shown + " ", svg("tspan", {}, String(group.members.length))),
      svg("title", {}, group.name));
  });
}

function drawNode(layout, section) {
  const [x, y] = [layout.places[2 * section.index], layout.places[2 * section.index + 1]];
  const radius = nodeRadius(section);
  const label = layout.beside ? { x: x + 12, y: y + 4 } : { x, y: y + radius + 13, "text-anchor": "middle" };
  const shown = section.name.length > 30 ? section.name.slice(0, 29) + "…" : section.name;
  return svg("g", {
    class: "node " + section.class, tabindex: "-1", role: "button", "data-section": section.name,
    "aria-label": `${section.name}, ${section.class}, conflicts with ${counted(section.neighbours.size, "section", "sections")}`,
    onclick: () => choose(section), onfocus: () => { graph.current = section.index; },
  },
  svg("circle", { class: "halo", cx: x, cy: y, r: radius + 2.5 }),
  svg("circle", { class: "disc", cx: x, cy: y, r: radius }),
  svg("text", label, shown),
  svg("title", {}, `${section.name}\n${place(section.file, section.line)}\n${section.class}, ${section.reads.length} read, ` +
    `${section.writes.length} written\nconflicts with ${counted(section.neighbours.size, "section", "sections")}`));
}

function setBox(x, y, width, height) {
  graph.box = [x, y, width, height];
  graph.root.setAttribute("viewBox", graph.box.map((value) => Math.round(value * 10) / 10).join(" "));
}
function fit() {
  const room = graph.root.getBoundingClientRect();
  const { width, height } = graph.layout;
  // Never larger than natural size: a small graph stays small.
  const scale = Math.max(width / Math.max(room.width, 1), height / Math.max(room.height, 1), 0.8);
  const [wide, high] = [Math.max(room.width, 1) * scale, Math.max(room.height, 1) * scale];
  setBox((width - wide) / 2, (height - high) / 2, wide, high);
}
function zoom(factor, at = null) {
  const [x, y, width, height] = graph.box;
  const [cx, cy] = at || [x + width / 2, y + height / 2];
  const scale = Math.min(Math.max(factor, 60 / width), 20000 / width);
  setBox(cx - (cx - x) * scale, cy - (cy - y) * scale, width * scale, height * scale);
}
function pointAt(event) {
  const room = graph.root.getBoundingClientRect();
  const [x, y, width, height] = graph.box;
  return [x + ((event.clientX - room.left) / room.width) * width, y + ((event.clientY - room.top) / room.height) * height];
}

function movable(root) {
  root.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.004), pointAt(event));
  }, { passive: false });
  let from = null;
  root.addEventListener("pointerdown", (event) => {
    if (event.button === 0 && !event.target.closest(".node")) {
      from = [event.clientX, event.clientY, ...graph.box];
      root.setPointerCapture(event.pointerId);
      root.classList.add("moving");
    }
  });
  root.addEventListener("pointermove", (event) => {
    if (!from) return;
    const room = root.getBoundingClientRect();
    setBox(from[2] - ((event.clientX - from[0]) / room.width) * from[4], from[3] - ((event.clientY - from[1]) / room.height) * from[5], from[4], from[5]);
  });
  const end = () => { from = null; root.classList.remove("moving"); };
  root.addEventListener("pointerup", end);
  root.addEventListener("pointercancel", end);
}

// Arrow keys go to the nearest section in that direction.
function neighbourTowards(key) {
  const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  if (!direction) return null;
  const { places } = graph.layout;
  let best = null;
  let least = Infinity;
  for (const section of sections.filter(isShown)) {
    const dx = places[2 * section.index] - places[2 * graph.current];
    const dy = places[2 * section.index + 1] - places[2 * graph.current + 1];
    const along = dx * direction[0] + dy * direction[1];
    const across = Math.abs(dx * direction[1]) + Math.abs(dy * direction[0]);
    if (along > 0.5 && along + 2.5 * across < least) [best, least] = [section.index, along + 2.5 * across];
  }
  return best;
}
function onGraphKey(event) {
  if (event.key === "Enter" || event.key === " ") choose(sections[graph.current]);
  else if (event.key === "+" || event.key === "=") zoom(0.8);
  else if (event.key === "-") zoom(1.25);
  else if (event.key === "0") fit();
  else {
    const next = neighbourTowards(event.key);
    if (next === null) return;
    moveFocus(next);
    graph.nodes[next].focus();
  }
  event.preventDefault();
}
function moveFocus(index) {
  graph.nodes[graph.current]?.setAttribute("tabindex", "-1");
  graph.current = index;
  graph.nodes[index]?.setAttribute("tabindex", "0");
}

function drawGraph() {
  const layout = data.layouts[state.group];
  graph.layout = layout;
  graph.nodes = sections.map((section) => drawNode(layout, section));
  graph.chosenLines = svg("g", { class: "chosen-lines" });
  const few = !layout.beside && sections.length > 60;
  const lines = svg("g", { class: "lines" }, drawLines(layout));
  const cards = svg("g", {}, drawCards(layout));
  // Lines between cards run below them, lines between sections above.
  const below = data.conflicts.length > kMostLines ? [lines, cards] : [cards, lines];
  graph.root.replaceChildren(...below, graph.chosenLines,
    svg("g", { class: (layout.beside ? "cards" : "") + (few ? " few-labels" : "") }, graph.nodes));
  moveFocus(state.chosen ? state.chosen.index : 0);
  fit();
  updateGraph();
}

// Shows what is chosen and what the filter leaves.
function updateGraph() {
  if (!graph.layout) return;
  const { chosen } = state;
  for (const section of sections) {
    const { classList } = graph.nodes[section.index];
    const near = chosen !== null && chosen.neighbours.has(section.index);
    classList.toggle("chosen", section === chosen);
    classList.toggle("near", near || (chosen === null && state.filter !== "" && isShown(section)));
    classList.toggle("far", chosen !== null && !near && section !== chosen);
    classList.toggle("out", !isShown(section) && section !== chosen);
  }
  const lines = chosen === null ? [] : [...chosen.neighbours].filter(([other]) => isShown(sections[other]) || other === chosen.index);
  graph.root.classList.toggle("selecting", chosen !== null);
  // Where there are many they are thin, so that the names below stay legible.
  const thin = lines.length > 40 ? 0.4 : 1;
  graph.chosenLines.setAttribute("stroke-opacity", lines.length > 40 ? 0.45 : 0.85);
  graph.chosenLines.replaceChildren(...lines.map(([other, set]) =>
    svg("path", { "stroke-width": (widthOf(sets[set].length) + 0.4) * thin, d: linePath(graph.layout, chosen.index, other) },
      svg("title", {}, `${chosen.name} and ${sections[other].name} on ${sets[set].slice(0, 12).join(", ")}` +
        (sets[set].length > 12 ? ` and ${sets[set].length - 12} more` : "")))));
  if (chosen) moveFocus(chosen.index);
}

function graphPanel() {
  graph.root = svg("svg", { class: "canvas", role: "group", "aria-label": "Conflict graph; arrow keys move, Enter selects, + and - zoom, 0 fits", onkeydown: onGraphKey });
  movable(graph.root);
  const select = h("select", { id: "group", onchange: (event) => { state.group = event.target.value; drawGraph(); } },
    [["free", "conflicts"], ["lock", "lock"], ["colour", "colours"], ["file", "file"], ["class", "class"]].map(([value, text]) =>
      h("option", { value, selected: value === state.group }, text)));
  const toggle = (name) => h("button", {
    type: "button", "aria-pressed": "true", title: kClassMeaning[name],
    onclick: (event) => {
      const on = !state.classes.has(name);
      if (on) state.classes.add(name); else state.classes.delete(name);
      event.currentTarget.setAttribute("aria-pressed", String(on));
      update();
    },
  }, h("span", { class: "dot " + name }), name);
  const bar = h("div", { class: "bar" },
    h("label", {}, "Group by", select),
    h("span", { class: "legend", role: "group", "aria-label": "Classes shown" }, ["non-revocable", "hybrid", "pure"].map(toggle)),
    h("span", { class: "space" }),
    h("span", { class: "explain" }, "size: locations touched · thickness: locations in conflict"),
    h("button", { type: "button", onclick: () => zoom(0.8), "aria-label": "Zoom in" }, "+"),
    h("button", { type: "button", onclick: () => zoom(1.25), "aria-label": "Zoom out" }, "−"),
    h("button", { type: "button", onclick: fit }, "Fit"));
  return h("div", { class: "panel graph" }, bar,
    sections.length > 0 ? graph.root : h("p", { class: "empty" }, "No atomic sections and no lock regions."));
}

const kClassMeaning = {
  "non-revocable": "may reach an action that cannot be undone: takes its colours exclusively",
  hybrid: "can be undone, and shares a colour with a section that cannot: a transaction that holds its colours shared",
  pure: "can be undone, and so can all that it conflicts with: a transaction without locks",
};
