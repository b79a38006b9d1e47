// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finite resources: buffers of the network, ways of a core, entries of the directory, lines of the
// LLC. A step that finds no room does not happen.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "machine/checker/options.h"
#include "machine/checker/state.h"

namespace tandem::machine::checker {

// Whether every buffer holds what is in it.
template <class P> bool fits(const Options &options, const State<P> &s) {
  for (unsigned v = 0; v < kVnets; ++v) {
    if (options.buffers[v] == 0)
      continue;
    std::array<std::uint8_t, 256> used{};
    for (std::uint32_t i = 0; i < s.in_flight; ++i)
      if (static_cast<unsigned>(P::kEvents[s.messages[i].type].vnet) == v &&
          ++used[s.messages[i].dst.id] > options.buffers[v])
        return false;
  }
  return true;
}

// Whether the row's needs are met for this block.
template <class C, class P>
bool has_room(const Options &options, const State<P> &s, unsigned block, Node at,
              std::uint8_t needs) {
  const auto room = [&](unsigned limit, auto &&holds) {
    if (limit == 0 || holds(s.blocks[block]))
      return true;
    unsigned used = 0;
    for (unsigned b = 0; b < options.blocks; ++b)
      used += holds(s.blocks[b]) ? 1 : 0;
    return used < limit;
  };
  // A block in a transaction has its way already, and its entry where the controller says so.
  constexpr bool kHolds = C::kRole == Role::core || requires { C::kTbeHoldsEntry; };
  const auto busy = [](const auto &part) {
    if (static_cast<int>(part.line.state) != 0)
      return true;
    if constexpr (requires { C::keeps_way(part.tbe); })
      return C::keeps_way(part.tbe);
    else
      return kHolds && static_cast<int>(part.tbe.state) != 0;
  };
  if ((needs & kNeedsWay) != 0)
    if constexpr (C::kRole == Role::core)
      if (!room(options.ways, [&](const BlockState<P> &b) { return busy(b.cores[at.id]); }))
        return false;
  if constexpr (C::kRole == Role::home) {
    if ((needs & kNeedsEntry) != 0 &&
        !room(options.entries, [&](const BlockState<P> &b) { return busy(b.home); }))
      return false;
    if constexpr (requires(const typename C::Llc &llc) { static_cast<bool>(llc); })
      if ((needs & kNeedsLlc) != 0 &&
          !room(options.llc, [&](const BlockState<P> &b) { return static_cast<bool>(b.home.llc); }))
        return false;
  }
  return true;
}

// Whether an array holds more than it can: a row that fills it does not say what it needs.
template <class P> const char *overfull(const Options &options, const State<P> &s) {
  const auto more = [&](unsigned limit, auto &&holds) {
    unsigned used = 0;
    for (unsigned b = 0; b < options.blocks; ++b)
      used += holds(s.blocks[b]) ? 1 : 0;
    return limit != 0 && used > limit;
  };
  for (unsigned c = 0; c < options.cores; ++c)
    if (more(options.ways,
             [c](const BlockState<P> &b) { return static_cast<int>(b.cores[c].line.state) != 0; }))
      return "a core holds more blocks than it has ways";
  if constexpr (!std::is_void_v<typename P::Home>) {
    if (more(options.entries,
             [](const BlockState<P> &b) { return static_cast<int>(b.home.line.state) != 0; }))
      return "the directory holds more entries than it has ways";
    if constexpr (requires(const typename P::Home::Llc &llc) { static_cast<bool>(llc); })
      if (more(options.llc, [](const BlockState<P> &b) { return static_cast<bool>(b.home.llc); }))
        return "the LLC holds more blocks than it has ways";
  }
  return nullptr;
}

} // namespace tandem::machine::checker
