// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/simulation/counted.h"

#include <type_traits>

namespace tandem::machine::simulation {
namespace {

// Structures of 64-bit counts and nothing else.
template <class T> T difference(const T &now, const T &before) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0 &&
                alignof(T) == alignof(std::uint64_t));
  using Words = std::array<std::uint64_t, sizeof(T) / sizeof(std::uint64_t)>;
  auto words = std::bit_cast<Words>(now);
  const auto others = std::bit_cast<Words>(before);
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] -= others[i];
  return std::bit_cast<T>(words);
}

std::vector<std::uint64_t> difference(std::vector<std::uint64_t> now,
                                      const std::vector<std::uint64_t> &before) {
  for (std::size_t i = 0; i < now.size() && i < before.size(); ++i)
    now[i] -= before[i];
  return now;
}

} // namespace

Counted since(const Counted &before, const Counted &now) {
  Counted result;
  const Statistics &a = before.statistics;
  const Statistics &b = now.statistics;
  Statistics &own = result.statistics;
  own.core = difference(b.core, a.core);
  own.home = difference(b.home, a.home);
  own.memory = difference(b.memory, a.memory);
  own.bus = difference(b.bus, a.bus);
  own.messages = difference(b.messages, a.messages);
  own.deliveries = difference(b.deliveries, a.deliveries);
  own.device_reads = b.device_reads - a.device_reads;
  own.device_writes = b.device_writes - a.device_writes;
  own.broadcasts = b.broadcasts - a.broadcasts;
  own.steps = b.steps - a.steps;
  own.events = b.events - a.events;
  own.reservations_lost = b.reservations_lost - a.reservations_lost;
  own.conditional_failures = b.conditional_failures - a.conditional_failures;
  result.network = difference(now.network, before.network);
  result.cycles = now.cycles - before.cycles;
  result.instructions = now.instructions - before.instructions;
  result.accesses = now.accesses - before.accesses;
  return result;
}

} // namespace tandem::machine::simulation
