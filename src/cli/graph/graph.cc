// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/graph/graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace tandem {

std::vector<ConflictEdge> conflict_edges(const Report &report) {
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  for (std::uint32_t index = 0; index < report.sections.size(); ++index)
    numbers.emplace(report.sections[index].name, index);
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> edges;
  for (std::uint32_t index = 0; index < report.sections.size(); ++index)
    for (const ReportConflict &conflict : report.sections[index].conflicts) {
      const auto other = numbers.find(conflict.with);
      if (other == numbers.end())
        continue;
      std::size_t &locations = edges[std::minmax(index, other->second)];
      locations = std::max(locations, conflict.on.size());
    }
  std::vector<ConflictEdge> list;
  list.reserve(edges.size());
  for (const auto &[pair, locations] : edges)
    list.push_back({pair.first, pair.second, locations});
  return list;
}

std::string_view to_string(Grouping grouping) {
  switch (grouping) {
  case Grouping::free:
    return "free";
  case Grouping::lock:
    return "lock";
  case Grouping::colour:
    return "colour";
  case Grouping::file:
    return "file";
  case Grouping::klass:
    return "class";
  }
  CHECK(false, "grouping {}", static_cast<int>(grouping));
}

double radius_of(const ReportSection &section) {
  const auto effects = static_cast<double>(section.reads.size() + section.writes.size());
  return 5 + std::min(7.0, std::sqrt(effects));
}

} // namespace tandem
