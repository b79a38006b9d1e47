// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conflicts between sections, the colours that cover them, and LockSTM's classes. Works on numbers
// only: section i of n, location by index.
#pragma once

#include "compiler/effects/effects.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tandem {

// Whether two sections, by number, may run at the same time in different threads.
using MayOverlap = llvm::function_ref<bool(std::size_t, std::size_t)>;

// Whether accesses of two locations may mean one address.
using MayMeet = llvm::function_ref<bool(const Location &, const Location &)>;
inline bool may_overlap_in_memory(const Location &a, const Location &b) { return a.overlaps(b); }

// Two sections conflict where one may write shared memory that the other may read or write, and
// both may run at the same time. A section conflicts with itself where two threads that run it may.
class ConflictGraph {
public:
  ConflictGraph(const std::vector<SectionEffects> &sections, const std::vector<Location> &locations,
                MayOverlap may_overlap, MayMeet may_meet = may_overlap_in_memory);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool conflict(std::size_t a, std::size_t b) const {
    return edges_.contains(std::minmax(a, b));
  }
  // The locations (indices) that a conflicting pair has in common, one for each name; empty where
  // it does not conflict.
  [[nodiscard]] const std::vector<std::uint32_t> &common(std::size_t a, std::size_t b) const;
  [[nodiscard]] const std::map<std::pair<std::size_t, std::size_t>, std::vector<std::uint32_t>> &
  edges() const {
    return edges_;
  }

private:
  std::size_t size_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::uint32_t>> edges_;
};

// A clique of the graph; its members exclude each other by one lock.
using ColourMembers = std::vector<std::size_t>;

// Cliques that cover every edge (LockSTM, section 2.2): greedily, in the order of the sections, a
// section joining a clique only where that covers a conflict not yet covered. A section that
// conflicts only with itself gets a colour of its own.
std::vector<ColourMembers> colour(const ConflictGraph &graph);

// Colours of a section, at most: each one costs it a lock or a look at one.
inline constexpr std::size_t kMostColours = 4;

// Unites colours until no section has more than `most` of them. What comes of it are no cliques:
// sections of one colour may exclude each other that do not conflict. Those are chosen that add the
// fewest such pairs for each acquisition they save.
std::vector<ColourMembers> unite_colours(const std::vector<ColourMembers> &colours,
                                         std::size_t sections, std::size_t most = kMostColours);

// "A", "B", ..., "Z", "AA", "AB", ...
std::string colour_name(std::size_t index);

// LockSTM's classes and locks (section 3): non-revocable sections hold their colours exclusively,
// hybrid ones share the colours that they have in common with a non-revocable one, pure ones hold
// none.
struct Classified {
  SectionClass klass = SectionClass::pure;
  std::vector<std::pair<std::size_t, LockMode>> locks; // colour number, mode
};
std::vector<Classified> classify(const std::vector<SectionEffects> &sections,
                                 const std::vector<ColourMembers> &colours);

} // namespace tandem
