// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/conflicts/conflicts.h"

#include "llvm/ADT/BitVector.h"

#include <algorithm>
#include <string_view>

namespace tandem {

ConflictGraph::ConflictGraph(const std::vector<SectionEffects> &sections,
                             const std::vector<Location> &locations, MayOverlap may_overlap,
                             MayMeet may_meet)
    : size_(sections.size()) {
  // The shared locations that sections touch, numbered anew.
  std::map<std::uint32_t, unsigned> number;
  for (const SectionEffects &section : sections)
    for (const std::set<std::uint32_t> *touched : {&section.reads, &section.writes})
      for (const std::uint32_t id : *touched)
        if (locations[id].shared)
          number.try_emplace(id, 0);
  std::vector<std::uint32_t> original;
  for (auto &[id, compact] : number) {
    compact = static_cast<unsigned>(original.size());
    original.push_back(id);
  }
  const auto count = static_cast<unsigned>(original.size());
  // By location: itself and the others that it overlaps.
  std::map<std::pair<NodeId, ObjectId>, std::vector<unsigned>> by_object;
  for (unsigned i = 0; i < count; ++i)
    by_object[{locations[original[i]].node, locations[original[i]].object}].push_back(i);
  std::vector<llvm::SmallVector<unsigned, 4>> same(count);
  for (const auto &[object, members] : by_object)
    for (const unsigned a : members)
      for (const unsigned b : members)
        if (may_meet(locations[original[a]], locations[original[b]]))
          same[a].push_back(b);
  // One location of each name says what a pair conflicts on.
  std::map<std::string_view, unsigned> names;
  std::vector<unsigned> name_of;
  for (const std::uint32_t id : original)
    name_of.push_back(locations[id].name.empty()
                          ? count + static_cast<unsigned>(name_of.size())
                          : names.try_emplace(locations[id].name, names.size()).first->second);
  struct Access {
    llvm::BitVector touches, overlapped; // overlapped: by its writes
  };
  std::vector<Access> accesses;
  for (const SectionEffects &section : sections) {
    Access access{llvm::BitVector(count), llvm::BitVector(count)};
    for (const std::uint32_t id : section.reads)
      if (const auto entry = number.find(id); entry != number.end())
        access.touches.set(entry->second);
    for (const std::uint32_t id : section.writes)
      if (const auto entry = number.find(id); entry != number.end()) {
        access.touches.set(entry->second);
        for (const unsigned other : same[entry->second])
          access.overlapped.set(other);
      }
    accesses.push_back(std::move(access));
  }
  llvm::BitVector named(2 * count);
  for (std::size_t a = 0; a < size_; ++a)
    for (std::size_t b = a; b < size_; ++b) {
      if (!accesses[a].overlapped.anyCommon(accesses[b].touches) &&
          !accesses[b].overlapped.anyCommon(accesses[a].touches))
        continue;
      if (!may_overlap(a, b))
        continue;
      llvm::BitVector on = accesses[a].overlapped;
      on &= accesses[b].touches;
      llvm::BitVector back = accesses[b].overlapped;
      back &= accesses[a].touches;
      on |= back;
      std::vector<std::uint32_t> &edge = edges_[{a, b}];
      named.reset();
      for (const unsigned i : on.set_bits())
        if (!named.test(name_of[i])) {
          named.set(name_of[i]);
          edge.push_back(original[i]);
        }
    }
}

const std::vector<std::uint32_t> &ConflictGraph::common(std::size_t a, std::size_t b) const {
  static const std::vector<std::uint32_t> kNone;
  const auto found = edges_.find(std::minmax(a, b));
  return found == edges_.end() ? kNone : found->second;
}

std::vector<ColourMembers> colour(const ConflictGraph &graph) {
  const std::size_t size = graph.size();
  std::vector<std::vector<bool>> adjacent(size, std::vector<bool>(size));
  std::vector<bool> coloured(size);
  for (const auto &[pair, on] : graph.edges())
    adjacent[pair.first][pair.second] = adjacent[pair.second][pair.first] = true;
  std::vector<std::vector<bool>> uncovered = adjacent;
  std::vector<ColourMembers> colours;
  for (const auto &[pair, on] : graph.edges()) {
    if (pair.first == pair.second || !uncovered[pair.first][pair.second])
      continue;
    ColourMembers clique{pair.first, pair.second};
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
      colours.push_back(ColourMembers{i});
  return colours;
}

namespace {

class Uniter {
public:
  Uniter(const std::vector<ColourMembers> &colours, std::size_t sections)
      : sections_(sections), excluded_(sections, llvm::BitVector(bits(sections))) {
    for (const ColourMembers &members : colours) {
      llvm::BitVector &colour = colours_.emplace_back(bits(sections));
      for (const std::size_t member : members)
        colour.set(bits(member));
      exclude(colour);
    }
  }

  std::vector<ColourMembers> run(std::size_t most) {
    for (;;) {
      const std::vector<std::size_t> crowded = most_crowded();
      if (crowded.size() <= most)
        break;
      unite_two_of(smallest(crowded));
    }
    std::vector<ColourMembers> result;
    for (const llvm::BitVector &colour : colours_) {
      ColourMembers &members = result.emplace_back();
      for (const unsigned member : colour.set_bits())
        members.push_back(member);
    }
    return result;
  }

private:
  static constexpr std::size_t kCandidates = 64;

  static unsigned bits(std::size_t number) { return static_cast<unsigned>(number); }

  void exclude(const llvm::BitVector &colour) {
    for (const unsigned member : colour.set_bits())
      excluded_[member] |= colour;
  }

  // The colours of the first section of those that have the most.
  [[nodiscard]] std::vector<std::size_t> most_crowded() const {
    std::vector<std::size_t> count(sections_);
    for (const llvm::BitVector &colour : colours_)
      for (const unsigned member : colour.set_bits())
        ++count[member];
    std::vector<std::size_t> crowded;
    if (sections_ == 0)
      return crowded;
    const auto section = std::max_element(count.begin(), count.end()) - count.begin();
    for (std::size_t i = 0; i < colours_.size(); ++i)
      if (colours_[i].test(static_cast<unsigned>(section)))
        crowded.push_back(i);
    return crowded;
  }

  // The colours among `crowded` that have the fewest members, few enough to look at all pairs of
  // them: of a section that conflicts with a thousand others these would be half a million, a
  // thousand times. In the order of `crowded`.
  [[nodiscard]] std::vector<std::size_t> smallest(std::vector<std::size_t> crowded) const {
    if (crowded.size() <= kCandidates)
      return crowded;
    std::vector<unsigned> members(colours_.size());
    for (const std::size_t colour : crowded)
      members[colour] = colours_[colour].count();
    std::stable_sort(crowded.begin(), crowded.end(),
                     [&](std::size_t a, std::size_t b) { return members[a] < members[b]; });
    crowded.resize(kCandidates);
    std::sort(crowded.begin(), crowded.end());
    return crowded;
  }

  // Pairs of sections that would exclude each other only because `a` and `b` are one.
  [[nodiscard]] std::size_t new_pairs(const llvm::BitVector &a, const llvm::BitVector &b) const {
    llvm::BitVector only_a = a;
    only_a.reset(b);
    llvm::BitVector only_b = b;
    only_b.reset(a);
    std::size_t pairs = 0;
    for (const unsigned member : only_a.set_bits()) {
      llvm::BitVector fresh = only_b;
      fresh.reset(excluded_[member]);
      pairs += fresh.count();
    }
    return pairs;
  }

  void unite_two_of(const std::vector<std::size_t> &candidates) {
    struct {
      std::size_t pairs, saved, first, second;
    } best{1, 0, 0, 0};
    for (std::size_t i = 0; i < candidates.size(); ++i)
      for (std::size_t j = i + 1; j < candidates.size(); ++j) {
        const llvm::BitVector &a = colours_[candidates[i]];
        const llvm::BitVector &b = colours_[candidates[j]];
        llvm::BitVector both = a;
        both &= b;
        const std::size_t saved = both.count(); // at least the section whose colours they are
        const std::size_t pairs = new_pairs(a, b);
        if (best.saved == 0 || pairs * best.saved < best.pairs * saved)
          best = {pairs, saved, candidates[i], candidates[j]};
      }
    colours_[best.first] |= colours_[best.second];
    colours_.erase(colours_.begin() + static_cast<std::ptrdiff_t>(best.second));
    exclude(colours_[best.first]);
  }

  std::size_t sections_;
  std::vector<llvm::BitVector> colours_;
  std::vector<llvm::BitVector> excluded_; // by section: all of its colours' members
};

} // namespace

std::vector<ColourMembers> unite_colours(const std::vector<ColourMembers> &colours,
                                         std::size_t sections, std::size_t most) {
  return Uniter(colours, sections).run(most);
}

std::string colour_name(std::size_t index) {
  std::string name;
  for (++index; index > 0; index = (index - 1) / 26)
    name.insert(name.begin(), static_cast<char>('A' + (index - 1) % 26));
  return name;
}

std::vector<Classified> classify(const std::vector<SectionEffects> &sections,
                                 const std::vector<ColourMembers> &colours) {
  std::vector<Classified> result(sections.size());
  for (std::size_t i = 0; i < sections.size(); ++i)
    if (!sections[i].irrevocable.empty())
      result[i].klass = SectionClass::non_revocable;
  for (std::size_t number = 0; number < colours.size(); ++number) {
    const ColourMembers &members = colours[number];
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
