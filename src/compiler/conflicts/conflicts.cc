// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/conflicts/conflicts.h"

#include <algorithm>

namespace tandem {

ConflictGraph::ConflictGraph(const std::vector<SectionEffects> &sections,
                             const std::vector<Location> &locations)
    : size_(sections.size()) {
  std::vector<std::vector<std::size_t>> readers(locations.size());
  std::vector<std::vector<std::size_t>> writers(locations.size());
  for (std::size_t i = 0; i < size_; ++i) {
    for (const std::uint32_t location : sections[i].reads)
      readers[location].push_back(i);
    for (const std::uint32_t location : sections[i].writes)
      writers[location].push_back(i);
  }
  const auto add = [&](std::uint32_t written, std::uint32_t touched) {
    // Of two overlapping locations the conflict names the one that says more.
    const std::uint32_t named = locations[touched].object == kMemoryObject ? written : touched;
    for (const std::size_t a : writers[written])
      for (const auto *side : {&readers[touched], &writers[touched]})
        for (const std::size_t b : *side) {
          std::set<std::uint32_t> &on = edges_[std::minmax(a, b)];
          // `(memory)` includes every exposed variable: they need no mention beside it.
          const bool said = !on.empty() && locations[*on.begin()].object == kMemoryObject &&
                            locations[written].object != locations[touched].object;
          if (!said)
            on.insert(named);
        }
  };
  const auto each_overlap = [&](bool same_object) {
    for (std::uint32_t written = 0; written < locations.size(); ++written)
      if (!writers[written].empty())
        for (std::uint32_t touched = 0; touched < locations.size(); ++touched)
          if ((locations[written].object == locations[touched].object) == same_object &&
              locations[written].overlaps(locations[touched]))
            add(written, touched);
  };
  each_overlap(/*same_object=*/true);
  each_overlap(/*same_object=*/false);
}

const std::set<std::uint32_t> &ConflictGraph::common(std::size_t a, std::size_t b) const {
  static const std::set<std::uint32_t> kNone;
  const auto found = edges_.find(std::minmax(a, b));
  return found == edges_.end() ? kNone : found->second;
}

std::vector<Colour> colour(const ConflictGraph &graph) {
  const std::size_t size = graph.size();
  std::vector<std::vector<bool>> adjacent(size, std::vector<bool>(size));
  std::vector<bool> coloured(size);
  for (const auto &[pair, on] : graph.edges())
    adjacent[pair.first][pair.second] = adjacent[pair.second][pair.first] = true;
  std::vector<std::vector<bool>> uncovered = adjacent;
  std::vector<Colour> colours;
  for (const auto &[pair, on] : graph.edges()) {
    if (pair.first == pair.second || !uncovered[pair.first][pair.second])
      continue;
    Colour clique{pair.first, pair.second};
    for (std::size_t candidate = 0; candidate < size; ++candidate) {
      const auto all = [&](const auto &matrix) {
        return std::all_of(clique.begin(), clique.end(), [&](std::size_t member) {
          return member != candidate && matrix[member][candidate];
        });
      };
      const bool covers_new = std::any_of(clique.begin(), clique.end(), [&](std::size_t member) {
        return uncovered[member][candidate];
      });
      if (covers_new && all(adjacent))
        clique.push_back(candidate);
    }
    std::sort(clique.begin(), clique.end());
    for (const std::size_t a : clique) {
      coloured[a] = true;
      for (const std::size_t b : clique)
        uncovered[a][b] = false;
    }
    colours.push_back(std::move(clique));
  }
  for (std::size_t i = 0; i < size; ++i)
    if (adjacent[i][i] && !coloured[i])
      colours.push_back(Colour{i});
  return colours;
}

std::string colour_name(std::size_t index) {
  std::string name;
  for (++index; index > 0; index = (index - 1) / 26)
    name.insert(name.begin(), static_cast<char>('A' + (index - 1) % 26));
  return name;
}

std::vector<Classified> classify(const std::vector<SectionEffects> &sections,
                                 const std::vector<Colour> &colours) {
  std::vector<Classified> result(sections.size());
  for (std::size_t i = 0; i < sections.size(); ++i)
    if (!sections[i].irrevocable.empty())
      result[i].klass = SectionClass::non_revocable;
  for (std::size_t number = 0; number < colours.size(); ++number) {
    const Colour &members = colours[number];
    const bool non_revocable = std::any_of(members.begin(), members.end(), [&](std::size_t i) {
      return result[i].klass == SectionClass::non_revocable;
    });
    if (!non_revocable)
      continue; // no one would ever take it exclusively
    for (const std::size_t i : members) {
      const bool exclusive = result[i].klass == SectionClass::non_revocable;
      if (!exclusive)
        result[i].klass = SectionClass::hybrid;
      result[i].locks.emplace_back(number, exclusive ? LockMode::exclusive : LockMode::shared);
    }
  }
  return result;
}

} // namespace tandem
