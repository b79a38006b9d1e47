// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/printable.h"
#include "cli/graph/graph.h"

#include <algorithm>
#include <map>

namespace tandem {
namespace {

// Lines between single sections beyond this number say nothing; lines between cards do.
constexpr std::size_t kMostLines = 1500;
constexpr std::size_t kLocationsInTip = 12;

std::string dot_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char byte : printable(text)) {
    if (byte == '"' || byte == '\\')
      result += '\\';
    result += byte;
  }
  return result + '"';
}

std::string place_text(const ReportSection &section) {
  const std::string file = section.file.empty() ? "?" : section.file;
  return section.line == 0 ? file : fmt::format("{}:{}", file, section.line);
}

std::string section_tip(const ReportSection &section) {
  return fmt::format(
      "{}, {}, {}; {} read, {} written{}", place_text(section), to_string(section.klass),
      to_string(section.kind), section.reads.size(), section.writes.size(),
      section.colours.empty() ? "" : fmt::format("; colours {}", fmt::join(section.colours, ", ")));
}

const ReportConflict *conflict_of(const Report &report, const ConflictEdge &edge) {
  for (const auto &[from, to] : {std::pair(edge.first, edge.second), {edge.second, edge.first}})
    for (const ReportConflict &conflict : report.sections[from].conflicts)
      if (conflict.with == report.sections[to].name)
        return &conflict;
  return nullptr;
}

std::string edge_tip(const Report &report, const ConflictEdge &edge) {
  const ReportConflict *conflict = conflict_of(report, edge);
  if (conflict == nullptr)
    return "";
  const std::size_t shown = std::min(conflict->on.size(), kLocationsInTip);
  return fmt::format(
      "{} and {} on {}{}", report.sections[edge.first].name, report.sections[edge.second].name,
      fmt::join(conflict->on.begin(), conflict->on.begin() + static_cast<std::ptrdiff_t>(shown),
                ", "),
      shown < conflict->on.size() ? fmt::format(" and {} more", conflict->on.size() - shown) : "");
}

double line_width(std::size_t locations) {
  return std::min(1 + 0.6 * static_cast<double>(locations > 0 ? locations - 1 : 0), 6.0);
}

constexpr std::string_view kSvgStyle =
    "<style>\n"
    "svg { background: #ffffff; font: 11px system-ui, sans-serif; fill: #1c2430; }\n"
    ".card { fill: #f3f5f8; stroke: #d4dae3; } .title { font-weight: 600; }\n"
    ".line { stroke: #8793a6; stroke-opacity: 0.55; fill: none; }\n"
    ".section circle { stroke: #ffffff; stroke-width: 1.5; } .self { fill: none; }\n"
    ".non-revocable circle { fill: #c8372d; } .hybrid circle { fill: #c98a00; }\n"
    ".pure circle { fill: #2b8a4b; } .dim { fill: #5a6779; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "svg { background: #12161c; fill: #e4e9f0; } .card { fill: #1b212a; stroke: #303a48; }\n"
    ".line { stroke: #8fa0b8; } .section circle { stroke: #12161c; } .dim { fill: #97a4b6; }\n"
    "}\n"
    "</style>\n";

std::string svg_line(Point from, Point to, double width, const std::string &tip) {
  return fmt::format("<path class=\"line\" stroke-width=\"{:.1f}\" d=\"M{:.1f} {:.1f}L{:.1f} "
                     "{:.1f}\"><title>{}</title></path>\n",
                     width, from.x, from.y, to.x, to.y, markup(tip));
}

// A loop above the disc.
std::string svg_loop(Point at, double radius, double width, const std::string &tip) {
  return fmt::format("<circle class=\"line\" stroke-width=\"{:.1f}\" cx=\"{:.1f}\" cy=\"{:.1f}\" "
                     "r=\"{:.1f}\"><title>{}</title></circle>\n",
                     width, at.x, at.y - radius, radius * 0.9, markup(tip));
}

std::string svg_lines(const Report &report, const std::vector<ConflictEdge> &edges,
                      const GraphLayout &layout) {
  std::string text;
  for (const ConflictEdge &edge : edges) {
    const Point from = layout.places[edge.first];
    const std::string tip = edge_tip(report, edge);
    if (edge.first != edge.second)
      text += svg_line(from, layout.places[edge.second], line_width(edge.locations), tip);
    else if (!layout.labels_beside)
      text +=
          svg_loop(from, radius_of(report.sections[edge.first]), line_width(edge.locations), tip);
  }
  return text;
}

// One line for each two cards, as wide as the share of their sections that conflict.
std::string svg_card_lines(const std::vector<ConflictEdge> &edges, const GraphLayout &layout) {
  std::vector<std::size_t> card(layout.places.size());
  for (std::size_t index = 0; index < layout.groups.size(); ++index)
    for (const std::uint32_t member : layout.groups[index].members)
      card[member] = index;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> pairs;
  for (const ConflictEdge &edge : edges)
    if (card[edge.first] != card[edge.second])
      ++pairs[std::minmax(card[edge.first], card[edge.second])];
  std::string text;
  for (const auto &[pair, count] : pairs) {
    const Group &left = layout.groups[pair.first];
    const Group &right = layout.groups[pair.second];
    const double share = static_cast<double>(count) /
                         static_cast<double>(left.members.size() * right.members.size());
    text += svg_line({left.corner.x + left.width / 2, left.corner.y + left.height / 2},
                     {right.corner.x + right.width / 2, right.corner.y + right.height / 2},
                     1 + 5 * share,
                     fmt::format("{} and {}: {} conflicts", left.name, right.name, count));
  }
  return text;
}

std::string svg_cards(const GraphLayout &layout) {
  std::string text;
  for (const Group &group : layout.groups)
    text += fmt::format(
        "<rect class=\"card\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"8\"/>\n<text class=\"title\" x=\"{:.1f}\" y=\"{:.1f}\">{} <tspan "
        "class=\"dim\">{}</tspan></text>\n",
        group.corner.x, group.corner.y, group.width, group.height, group.corner.x + 12,
        group.corner.y + 22, markup(group.name), group.members.size());
  return text;
}

std::string svg_sections(const Report &report, const GraphLayout &layout) {
  std::string text;
  for (std::size_t index = 0; index < report.sections.size(); ++index) {
    const ReportSection &section = report.sections[index];
    const double radius = radius_of(section);
    const double size = layout.labels_beside ? std::min(radius, 8.0) : radius;
    const Point at = layout.places[index];
    const Point label =
        layout.labels_beside ? Point{at.x + 12, at.y + 4} : Point{at.x, at.y + radius + 14};
    text += fmt::format(
        "<g class=\"section {}\"><circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/><text "
        "x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text><title>{}</title></g>\n",
        to_string(section.klass), at.x, at.y, size, label.x, label.y,
        layout.labels_beside ? "" : " text-anchor=\"middle\"", markup(section.name),
        markup(section_tip(section)));
  }
  return text;
}

std::string_view dot_colour(SectionClass klass) {
  switch (klass) {
  case SectionClass::non_revocable:
    return "#e88a83";
  case SectionClass::hybrid:
    return "#f0c766";
  case SectionClass::pure:
    return "#8fcfa3";
  }
  CHECK(false, "section class {}", static_cast<int>(klass));
}

} // namespace

std::string to_svg(const Report &report) {
  const std::vector<ConflictEdge> edges = conflict_edges(report);
  const bool free = report.sections.size() <= kFreePictureSections;
  const GraphLayout layout = lay_out(report, edges, free ? Grouping::free : Grouping::lock);
  const double width = std::max(layout.width, 320.0);
  const double height = std::max(layout.height, 60.0);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\">\n<title>Conflict graph{2}: {3} sections, {4} "
      "conflicts</title>\n",
      width, height, report.output.empty() ? "" : " of " + markup(report.output),
      report.sections.size(), edges.size());
  text += kSvgStyle;
  if (edges.size() > kMostLines && !free)
    text += svg_card_lines(edges, layout) + svg_cards(layout);
  else
    text += svg_cards(layout) + svg_lines(report, edges, layout);
  text += svg_sections(report, layout);
  if (report.sections.empty())
    text += "<text x=\"24\" y=\"34\">no sections</text>\n";
  return text + "</svg>\n";
}

std::string to_dot(const Report &report) {
  std::string text = "graph conflicts {\n"
                     "  graph [overlap=false, splines=true, outputorder=edgesfirst];\n"
                     "  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\"];\n"
                     "  edge [color=\"#8793a6\"];\n";
  for (const ReportSection &section : report.sections)
    text += fmt::format("  {} [fillcolor=\"{}\", tooltip={}];\n", dot_quoted(section.name),
                        dot_colour(section.klass), dot_quoted(section_tip(section)));
  for (const ConflictEdge &edge : conflict_edges(report))
    text +=
        fmt::format("  {} -- {} [penwidth={:.1f}, weight={}, tooltip={}];\n",
                    dot_quoted(report.sections[edge.first].name),
                    dot_quoted(report.sections[edge.second].name), line_width(edge.locations),
                    std::max<std::size_t>(edge.locations, 1), dot_quoted(edge_tip(report, edge)));
  return text + "}\n";
}

} // namespace tandem
