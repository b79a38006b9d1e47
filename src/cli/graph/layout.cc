// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/graph/graph.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace tandem {
namespace {

constexpr double kCharacter = 6.7; // mean width of a character of a 11 px label
constexpr double kMargin = 24;

// Cards.
constexpr double kRow = 22;
constexpr double kTitle = 26;
constexpr double kPadding = 12;
constexpr double kGap = 28; // between cards: room for the lines that join them

std::string group_name(const ReportSection &section, Grouping grouping) {
  switch (grouping) {
  case Grouping::lock:
    return section.lock.empty() ? "atomic sections"
                                : fmt::format("{}", fmt::join(section.lock.front().names, ", "));
  case Grouping::colour:
    return section.colours.empty() ? "no colour"
                                   : fmt::format("{}", fmt::join(section.colours, ", "));
  case Grouping::file:
    return section.file.empty() ? "?" : section.file;
  case Grouping::klass:
    return std::string(to_string(section.klass));
  case Grouping::free:
    break;
  }
  CHECK(false, "grouping {}", static_cast<int>(grouping));
}

double label_width(const ReportSection &section) {
  return std::clamp(static_cast<double>(section.name.size()) * kCharacter, 40.0, 190.0);
}

// As many columns as give a card about the shape of a page.
std::size_t columns_of(std::size_t members, double cell) {
  const double columns = std::sqrt(static_cast<double>(members) * kRow * 1.5 / cell);
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::lround(columns)), 1, members);
}

// Puts the cards into rows, in their order.
void pack(GraphLayout &layout) {
  double area = 0;
  double widest = 0;
  for (const Group &group : layout.groups) {
    area += (group.width + kGap) * (group.height + kGap);
    widest = std::max(widest, group.width);
  }
  const double limit = std::max(widest, std::sqrt(area * 1.6)) + kMargin;
  Point at{kMargin, kMargin};
  double row = 0;
  for (Group &group : layout.groups) {
    if (at.x > kMargin && at.x + group.width > limit) {
      at = {kMargin, at.y + row + kGap};
      row = 0;
    }
    group.corner = at;
    at.x += group.width + kGap;
    row = std::max(row, group.height);
    layout.width = std::max(layout.width, at.x - kGap + kMargin);
  }
  layout.height = at.y + row + kMargin;
}

GraphLayout lay_out_cards(const Report &report, Grouping grouping) {
  GraphLayout layout;
  layout.labels_beside = true;
  std::map<std::string, std::vector<std::uint32_t>> groups;
  for (std::uint32_t index = 0; index < report.sections.size(); ++index) {
    groups[group_name(report.sections[index], grouping)].push_back(index);
    layout.label_width = std::max(layout.label_width, label_width(report.sections[index]));
  }
  for (auto &[name, members] : groups)
    layout.groups.push_back({name, std::move(members), {}, 0, 0});
  std::sort(layout.groups.begin(), layout.groups.end(), [](const Group &left, const Group &right) {
    return left.members.size() != right.members.size() ? left.members.size() > right.members.size()
                                                       : left.name < right.name;
  });
  layout.places.resize(report.sections.size());
  std::map<const Group *, double> cells;
  for (Group &group : layout.groups) {
    double cell = 60;
    for (const std::uint32_t member : group.members)
      cell = std::max(cell, 36 + label_width(report.sections[member]));
    const std::size_t columns = columns_of(group.members.size(), cell);
    const std::size_t rows = (group.members.size() + columns - 1) / columns;
    const double title = static_cast<double>(std::min<std::size_t>(group.name.size(), 40)) * 7.5;
    group.width = std::max(static_cast<double>(columns) * cell, title + 40) + 2 * kPadding;
    group.height = static_cast<double>(rows) * kRow + kTitle + 2 * kPadding;
    cells[&group] = cell;
  }
  pack(layout);
  for (const Group &group : layout.groups) {
    const std::size_t columns = columns_of(group.members.size(), cells[&group]);
    const std::size_t rows = (group.members.size() + columns - 1) / columns;
    for (std::size_t index = 0; index < group.members.size(); ++index) {
      const std::size_t columns_before = index / rows; // down, then to the right
      const auto column = static_cast<double>(columns_before);
      const auto row = static_cast<double>(index % rows);
      layout.places[group.members[index]] = {
          group.corner.x + kPadding + column * cells[&group] + 12,
          group.corner.y + kPadding + kTitle + (row + 0.5) * kRow};
    }
  }
  return layout;
}

// Sections that are joined by conflicts, directly or through others.
struct Component {
  std::vector<std::uint32_t> members;
  std::vector<ConflictEdge> edges; // numbers are indices of members; none to itself
};

// Largest first; those of one size by their first section.
std::vector<Component> components_of(std::size_t count, const std::vector<ConflictEdge> &edges) {
  std::vector<std::uint32_t> root(count);
  for (std::uint32_t index = 0; index < count; ++index)
    root[index] = index;
  const auto find = [&](std::uint32_t index) {
    while (root[index] != index)
      index = root[index] = root[root[index]];
    return index;
  };
  for (const ConflictEdge &edge : edges) {
    const auto [low, high] = std::minmax(find(edge.first), find(edge.second));
    root[high] = low;
  }
  std::map<std::uint32_t, Component> by_root;
  std::vector<std::uint32_t> number(count);
  for (std::uint32_t index = 0; index < count; ++index) {
    std::vector<std::uint32_t> &members = by_root[find(index)].members;
    number[index] = static_cast<std::uint32_t>(members.size());
    members.push_back(index);
  }
  for (const ConflictEdge &edge : edges)
    if (edge.first != edge.second)
      by_root[find(edge.first)].edges.push_back(
          {number[edge.first], number[edge.second], edge.locations});
  std::vector<Component> components;
  for (auto &[index, component] : by_root)
    components.push_back(std::move(component));
  std::sort(components.begin(), components.end(),
            [](const Component &left, const Component &right) {
              return left.members.size() != right.members.size()
                         ? left.members.size() > right.members.size()
                         : left.members < right.members;
            });
  return components;
}

// Forces: neighbours draw each other near, all push each other away (Fruchterman and Reingold), and
// in the end none overlap. For one component.
class Forces {
public:
  // `widths`: of the members' names; `sparse`: these are shown.
  Forces(const Component &component, std::vector<double> widths, bool sparse)
      : edges_(component.edges), widths_(std::move(widths)), sparse_(sparse),
        spread_(sparse ? 105 : 46), places_(widths_.size()), degrees_(widths_.size()) {
    for (const ConflictEdge &edge : edges_) {
      ++degrees_[edge.first];
      ++degrees_[edge.second];
    }
    // A sunflower: no two at one place, none preferred.
    for (std::size_t index = 0; index < places_.size(); ++index) {
      const double angle = 2.399963229728653 * static_cast<double>(index);
      const double radius = spread_ * 0.7 * std::sqrt(static_cast<double>(index) + 0.5);
      places_[index] = {radius * std::cos(angle) * 1.3, radius * std::sin(angle)};
    }
  }

  std::vector<Point> run() {
    const double count = std::max<double>(1, static_cast<double>(places_.size()));
    const auto steps = static_cast<int>(std::clamp(4e7 / (count * count), 20.0, 400.0));
    for (int step = 0; step < steps; ++step)
      advance(spread_ * 1.5 * (1 - static_cast<double>(step) / steps) + 0.5);
    for (int step = 0; step < 200 && separate(); ++step) {
    }
    return std::move(places_);
  }

private:
  void advance(double most) {
    std::vector<Point> forces(places_.size());
    for (std::size_t first = 0; first < places_.size(); ++first)
      for (std::size_t second = first + 1; second < places_.size(); ++second) {
        const double x = places_[first].x - places_[second].x;
        const double y = places_[first].y - places_[second].y;
        const double push = spread_ * spread_ / std::max(x * x + y * y, 1.0);
        forces[first].x += x * push;
        forces[first].y += y * push;
        forces[second].x -= x * push;
        forces[second].y -= y * push;
      }
    for (const ConflictEdge &edge : edges_) {
      const double x = places_[edge.second].x - places_[edge.first].x;
      const double y = places_[edge.second].y - places_[edge.first].y;
      // Shared out among the neighbours, so that a dense graph does not collapse.
      const double share = 2.0 / std::sqrt(degrees_[edge.first] * degrees_[edge.second]);
      const double pull = std::sqrt(x * x + y * y) / spread_ * share;
      forces[edge.first].x += x * pull;
      forces[edge.first].y += y * pull;
      forces[edge.second].x -= x * pull;
      forces[edge.second].y -= y * pull;
    }
    for (std::size_t index = 0; index < places_.size(); ++index) {
      Point &place = places_[index];
      Point &force = forces[index];
      force.x -= place.x * 0.03; // to the middle, and more so from above and below
      force.y -= place.y * 0.05;
      const double length = std::max(std::sqrt(force.x * force.x + force.y * force.y), 1e-9);
      place.x += force.x / length * std::min(length, most);
      place.y += force.y / length * std::min(length, most);
    }
  }

  // Pushes apart what overlaps, along the shorter way; whether something did.
  bool separate() {
    bool moved = false;
    for (std::size_t first = 0; first < places_.size(); ++first)
      for (std::size_t second = first + 1; second < places_.size(); ++second) {
        const double wide = sparse_ ? (widths_[first] + widths_[second]) / 2 + 14 : 30;
        const double high = sparse_ ? 46 : 30;
        const double x = places_[second].x - places_[first].x;
        const double y = places_[second].y - places_[first].y;
        const double in_x = wide - std::abs(x);
        const double in_y = high - std::abs(y);
        if (in_x <= 0 || in_y <= 0)
          continue;
        moved = true;
        const bool sideways = in_x < in_y;
        const double by = (sideways ? in_x : in_y) / 2 + 0.5;
        const double sign = (sideways ? x : y) < 0 ? -1 : 1;
        (sideways ? places_[first].x : places_[first].y) -= sign * by;
        (sideways ? places_[second].x : places_[second].y) += sign * by;
      }
    return moved;
  }

  const std::vector<ConflictEdge> &edges_;
  std::vector<double> widths_;
  bool sparse_;
  double spread_; // the distance at which neighbours feel well
  std::vector<Point> places_;
  std::vector<double> degrees_;
};

// A component, laid out in a box of its own; the places are relative to its corner.
Group boxed(const Report &report, const Component &component, std::vector<Point> &places) {
  const bool sparse = report.sections.size() <= kFreePictureSections;
  std::vector<double> widths;
  for (const std::uint32_t member : component.members)
    widths.push_back(label_width(report.sections[member]));
  const std::vector<Point> found = Forces(component, widths, sparse).run();
  Group box{"", component.members, {}, 0, 0};
  Point least = found.front();
  Point most = least;
  for (std::size_t index = 0; index < found.size(); ++index) {
    const double side = sparse ? widths[index] / 2 : 14;
    least = {std::min(least.x, found[index].x - side), std::min(least.y, found[index].y - 20)};
    most = {std::max(most.x, found[index].x + side), std::max(most.y, found[index].y + 28)};
  }
  for (std::size_t index = 0; index < found.size(); ++index)
    places[component.members[index]] = {found[index].x - least.x, found[index].y - least.y};
  box.width = most.x - least.x;
  box.height = most.y - least.y;
  return box;
}

// Each component by its own forces, the components side by side.
GraphLayout lay_out_freely(const Report &report, const std::vector<ConflictEdge> &edges) {
  GraphLayout layout;
  layout.places.resize(report.sections.size());
  for (const Component &component : components_of(report.sections.size(), edges))
    layout.groups.push_back(boxed(report, component, layout.places));
  pack(layout);
  for (const Group &group : layout.groups)
    for (const std::uint32_t member : group.members) {
      layout.places[member].x += group.corner.x;
      layout.places[member].y += group.corner.y;
    }
  layout.groups.clear();
  for (const ReportSection &section : report.sections)
    layout.label_width = std::max(layout.label_width, label_width(section));
  return layout;
}

} // namespace

GraphLayout lay_out(const Report &report, const std::vector<ConflictEdge> &edges,
                    Grouping grouping) {
  return grouping == Grouping::free ? lay_out_freely(report, edges)
                                    : lay_out_cards(report, grouping);
}

} // namespace tandem
