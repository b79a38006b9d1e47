// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/page_filter.h"
#include "base/printable.h"
#include "machine/protocol/document.h"

namespace tandem::machine {

namespace {

using Controller = TableDocument::Controller;
using Row = TableDocument::Row;

constexpr const char *kStyle = R"(
:root { color-scheme: light dark; --line: #8885; --stall: #f5b50033; --none: #8881; --bad: #d33; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
table { border-collapse: collapse; margin: 0.8rem 0 1.6rem; }
th, td { border: 1px solid var(--line); padding: 0.25rem 0.5rem; vertical-align: top; text-align: left; }
.matrix { display: block; overflow-x: auto; font-size: 12px; }
.matrix td { white-space: nowrap; text-align: center; }
.stall { background: var(--stall); }
.invalid { background: var(--none); }
.never { color: var(--bad); font-weight: 600; }
.why { font-style: italic; opacity: 0.85; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
code { font-size: 0.95em; }
)";

std::string states_table(const char *caption, const std::vector<StateInfo> &states) {
  std::string out = fmt::format("<table><tr><th>{}</th><th>meaning</th></tr>\n", caption);
  for (const StateInfo &s : states)
    out += fmt::format("<tr><td><code>{}</code></td><td>{}</td></tr>\n", markup(s.name),
                       markup(s.description));
  return out + "</table>\n";
}

const char *kind_name(const EventInfo &event) {
  static constexpr const char *kVnetNames[] = {"request", "forward", "response", "writeback",
                                               "memory"};
  switch (event.kind) {
  case EventKind::core:
    return "the core";
  case EventKind::spontaneous:
    return "the environment";
  case EventKind::message:
    return kVnetNames[static_cast<std::size_t>(event.vnet)];
  case EventKind::raised:
    return "another row";
  case EventKind::snoop:
    return "the bus";
  case EventKind::device:
    return "a device";
  }
  return "";
}

std::string events_table(const TableDocument &d) {
  std::string out =
      "<table><tr><th>event</th><th>comes from, or network</th><th>meaning</th></tr>\n";
  for (const EventInfo &e : d.events)
    out += fmt::format("<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>\n", markup(e.name),
                       kind_name(e), markup(e.description));
  return out + "</table>\n";
}

std::string state_pair(const Controller &c, std::size_t line, std::size_t tbe) {
  return fmt::format("{}/{}", c.lines[line].name, c.tbes[tbe].name);
}

// The states that some row is for; a fused pair that is in no row cannot be.
std::vector<std::pair<std::size_t, std::size_t>> pairs_of(const Controller &c) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t line = 0; line < c.lines.size(); ++line)
    for (std::size_t tbe = 0; tbe < c.tbes.size(); ++tbe)
      for (const Row &row : c.rows)
        if ((row.lines >> line & 1) != 0 && (row.tbes >> tbe & 1) != 0) {
          pairs.emplace_back(line, tbe);
          break;
        }
  return pairs;
}

std::string matrix_cell(const Controller &c, std::size_t controller, std::size_t line,
                        std::size_t tbe, std::size_t event) {
  std::string links;
  bool stall = false;
  for (std::size_t i = 0; i < c.rows.size(); ++i) {
    const Row &row = c.rows[i];
    if (row.event != event || (row.lines >> line & 1) == 0 || (row.tbes >> tbe & 1) == 0)
      continue;
    stall |= row.kind != RowKind::step;
    const std::string label =
        row.kind == RowKind::stall    ? "stall"
        : row.kind == RowKind::nack   ? "nack"
        : row.kind == RowKind::refuse ? "refuse"
        : row.next_line < 0 && row.next_tbe < 0
            ? "&middot;"
            : "&rarr;" +
                  state_pair(c, row.next_line < 0 ? line : static_cast<std::size_t>(row.next_line),
                             row.next_tbe < 0 ? tbe : static_cast<std::size_t>(row.next_tbe));
    links += fmt::format("{}<a href=\"#r{}-{}\">{}</a>", links.empty() ? "" : "<br>", controller, i,
                         label);
  }
  if (links.empty())
    return "<td class=\"invalid\"></td>";
  return fmt::format("<td{}>{}</td>", stall ? " class=\"stall\"" : "", links);
}

std::string matrix(const TableDocument &d, std::size_t controller) {
  const Controller &c = d.controllers[controller];
  std::set<std::size_t> events;
  for (const Row &row : c.rows)
    events.insert(row.event);
  std::string out = "<table class=\"matrix\"><tr><th>line / transaction</th>";
  for (const std::size_t e : events)
    out += fmt::format("<th title=\"{}\">{}</th>", markup(d.events[e].description),
                       markup(d.events[e].name));
  out += "</tr>\n";
  for (const auto &[line, tbe] : pairs_of(c)) {
    out += fmt::format("<tr><th>{}</th>", markup(state_pair(c, line, tbe)));
    for (const std::size_t e : events)
      out += matrix_cell(c, controller, line, tbe, e);
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string needs_names(std::uint8_t needs) {
  std::string names;
  const auto add = [&names](const char *name) {
    names += names.empty() ? name : std::string(", ") + name;
  };
  if ((needs & kNeedsWay) != 0)
    add("a way");
  if ((needs & kNeedsEntry) != 0)
    add("a directory entry");
  if ((needs & kNeedsLlc) != 0)
    add("an LLC way");
  return names;
}

std::string does(const Row &row) {
  if (row.kind == RowKind::stall)
    return "stalls until woken";
  if (row.kind == RowKind::nack)
    return "refuses";
  if (row.kind == RowKind::refuse)
    return "refuses for good";
  std::string out;
  for (const std::string &action : row.actions)
    out += (out.empty() ? "" : "<br>") + markup(action);
  return out.empty() ? "nothing" : out;
}

std::string rows_table(const TableDocument &d, std::size_t controller) {
  const Controller &c = d.controllers[controller];
  const bool counted = !d.proofs.empty();
  std::string out = fmt::format("<table><tr><th>#</th><th>state, event, condition</th>"
                                "<th>actions</th><th>next</th><th>needs</th>{}</tr>\n",
                                (counted ? std::string("<th>taken in the proof</th>") : "") +
                                    (d.tests.empty() ? "" : "<th>and in tests</th>"));
  for (std::size_t i = 0; i < c.rows.size(); ++i) {
    const Row &row = c.rows[i];
    const auto next = [](int state, const std::vector<StateInfo> &states) {
      return state < 0 ? "=" : states[static_cast<std::size_t>(state)].name;
    };
    out += fmt::format(
        "<tr id=\"r{}-{}\"><td class=\"number\">{}</td><td>{}{}</td><td>{}</td>"
        "<td>{}</td><td>{}</td>",
        controller, i, i + 1, markup(row_name(d, c, row)),
        row.why.empty() ? "" : "<br><span class=\"why\">" + markup(row.why) + "</span>", does(row),
        row.next_line < 0 && row.next_tbe < 0
            ? ""
            : fmt::format("{}/{}", next(row.next_line, c.lines), next(row.next_tbe, c.tbes)),
        needs_names(row.needs));
    if (counted)
      out += row.taken == 0 ? std::string("<td class=\"never\">never</td>")
                            : fmt::format("<td class=\"number\">{}</td>", row.taken);
    if (!d.tests.empty())
      out += fmt::format("<td class=\"number\">{}</td>", row.tested);
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string coverage(const TableDocument &d) {
  if (d.proofs.empty())
    return "";
  std::size_t rows = 0, taken = 0, tested = 0, either = 0;
  for (const Controller &c : d.controllers)
    for (const Row &row : c.rows) {
      ++rows;
      taken += row.taken != 0 ? 1 : 0;
      tested += row.tested != 0 ? 1 : 0;
      either += row.taken + row.tested != 0 ? 1 : 0;
    }
  std::string out = fmt::format("<h2>Coverage</h2>\n<p>{} of {} rows are taken", either, rows);
  if (!d.tests.empty())
    out += fmt::format(": {} in {}, and", tested, markup(d.tests));
  out += fmt::format(" {} in these exhaustive searches:</p>\n<ul>\n", taken);
  for (const std::string &proof : d.proofs)
    out += fmt::format("<li>{}</li>\n", markup(proof));
  return out + "</ul>\n";
}

} // namespace

std::string html(const TableDocument &d) {
  std::string out =
      fmt::format("<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<title>{0}: tables</title>\n<style>{1}</style></head>\n<body>\n"
                  "<h1>{0}</h1>\n<p>{2}</p>\n",
                  markup(d.name), kStyle, markup(d.summary));
  if (!d.options.empty()) {
    out += "<table><tr><th>option</th><th>when it is set</th><th>default</th></tr>\n";
    for (const TableDocument::Option &o : d.options)
      out += fmt::format("<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>\n",
                         markup(o.name), markup(o.description), o.set ? "set" : "clear");
    out += "</table>\n";
  }
  out += coverage(d) + "<h2>Events</h2>\n" + events_table(d);
  for (std::size_t i = 0; i < d.controllers.size(); ++i) {
    const Controller &c = d.controllers[i];
    out += fmt::format("<h2>Controller: {}</h2>\n", markup(c.name));
    out += states_table("line", c.lines) + states_table("transaction", c.tbes);
    out += "<p>An empty field cannot happen: the simulator stops there, and the checker shows that "
           "it is never reached. Rows of one field are tried from the top.</p>\n";
    out += matrix(d, i) + rows_table(d, i);
  }
  return out + fmt::format("<script>{}</script>\n</body>\n</html>\n", kPageFilterScript);
}

} // namespace tandem::machine
