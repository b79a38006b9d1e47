// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conflict graph of a report: sections, an edge where two may not run beside each other, and
// where they stand in a picture. Equal reports give equal pictures.
#pragma once

#include "compiler/report/report.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// Numbers are indices of Report::sections; first <= second, and equal for a section that conflicts
// with itself.
struct ConflictEdge {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::size_t locations = 0; // on which they conflict
  bool operator==(const ConflictEdge &) const = default;
};

// Every pair once, whichever of the two names the other; by first, then second. Names that are no
// section are left out.
std::vector<ConflictEdge> conflict_edges(const Report &report);

// How sections are put together. free: by the conflicts alone.
enum class Grouping { free, lock, colour, file, klass };
inline constexpr std::array kGroupings{Grouping::free, Grouping::lock, Grouping::colour,
                                       Grouping::file, Grouping::klass};
std::string_view to_string(Grouping grouping); // "free", "lock", "colour", "file", "class"

// Units are those of the picture: one is a CSS pixel at its natural size; y points down.
struct Point {
  double x = 0;
  double y = 0;
};

// Sections that belong together, in a card.
struct Group {
  std::string name;
  std::vector<std::uint32_t> members;
  Point corner; // top left
  double width = 0;
  double height = 0;
};

struct GraphLayout {
  double width = 0;
  double height = 0;
  double label_width = 0;     // room for a section's name beside or below it
  std::vector<Point> places;  // of the sections' discs
  std::vector<Group> groups;  // empty for Grouping::free
  bool labels_beside = false; // else below
};

// Places all sections. free: by forces; a force step costs the square of their number, so the more
// there are the fewer steps are made. Others: cards, largest first, in rows.
GraphLayout lay_out(const Report &report, const std::vector<ConflictEdge> &edges,
                    Grouping grouping);

// The radius of a section's disc: larger, the more locations it touches; 5 to 12.
double radius_of(const ReportSection &section);

// The number of sections up to which a free picture shows every name.
inline constexpr std::size_t kFreePictureSections = 60;

// The graph as a picture of its own, or for graphviz. SVG: free up to kFreePictureSections, by lock
// beyond. Both follow light and dark where the viewer says.
std::string to_svg(const Report &report);
std::string to_dot(const Report &report);

} // namespace tandem
