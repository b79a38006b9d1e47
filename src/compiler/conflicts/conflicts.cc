// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/conflicts/conflicts.h"

#include "llvm/ADT/BitVector.h"

#include <algorithm>

namespace tandem {

ConflictGraph::ConflictGraph(const std::vector<SectionEffects> &sections,
                             const std::vector<Location> &locations)
    : size_(sections.size()) {
  const auto count = static_cast<unsigned>(locations.size());
  const auto bits = [&](const std::set<std::uint32_t> &numbers) {
    llvm::BitVector set(count);
    for (const std::uint32_t number : numbers)
      set.set(number);
    return set;
  };
  // By location: itself and the others of its object that it overlaps.
  std::vector<llvm::BitVector> same(count, llvm::BitVector(count));
  llvm::BitVector memory(count);
  llvm::BitVector exposed(count); // variables that pointers may reach
  for (std::uint32_t a = 0; a < count; ++a) {
    memory[a] = locations[a].object == kMemoryObject;
    exposed[a] = !memory[a] && locations[a].exposed;
    for (std::uint32_t b = 0; b < count; ++b)
      if (locations[a].object == locations[b].object && locations[a].overlaps(locations[b]))
        same[a].set(b);
  }
  struct Access {
    llvm::BitVector writes, touches, overlapped; // overlapped: by its writes, in the same objects
  };
  std::vector<Access> accesses;
  for (const SectionEffects &section : sections) {
    Access access{bits(section.writes), bits(section.reads), llvm::BitVector(count)};
    access.touches |= access.writes;
    for (const std::uint32_t written : section.writes)
      access.overlapped |= same[written];
    accesses.push_back(std::move(access));
  }
  // What `writer` may do to `other`.
  const auto add = [&](const Access &writer, const Access &other, llvm::BitVector &on) {
    llvm::BitVector hit = writer.overlapped;
    hit &= other.touches;
    on |= hit;
  };
  const auto add_through_pointers = [&](const Access &writer, const Access &other,
                                        llvm::BitVector &on) {
    llvm::BitVector hit(count);
    if (writer.writes.anyCommon(memory))
      hit |= other.touches;
    if (other.touches.anyCommon(memory))
      hit |= writer.writes;
    hit &= exposed;
    on |= hit;
  };
  for (std::size_t a = 0; a < size_; ++a)
    for (std::size_t b = a; b < size_; ++b) {
      llvm::BitVector on(count);
      add(accesses[a], accesses[b], on);
      add(accesses[b], accesses[a], on);
      // `(memory)` includes every exposed variable: they need no mention beside it.
      if (!on.anyCommon(memory)) {
        add_through_pointers(accesses[a], accesses[b], on);
        add_through_pointers(accesses[b], accesses[a], on);
      }
      if (on.any())
        edges_[{a, b}].assign(on.set_bits_begin(), on.set_bits_end());
    }
}

const std::vector<std::uint32_t> &ConflictGraph::common(std::size_t a, std::size_t b) const {
  static const std::vector<std::uint32_t> kNone;
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
