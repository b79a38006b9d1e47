// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is counted of hardware transactions. Source: MetaTM, Table 6, Figures 3 to 6, sections 6.2
// and 6.3 (what a restart is, and a unique one).
#pragma once

#include "machine/htm/transaction.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>

namespace tandem::machine {

// Of committed transactions: how many had a size from 0 to 7, 8 to 15, 16 to 31, and so on; the
// last takes all that is larger.
struct SizeHistogram {
  static constexpr unsigned kBuckets = 16;
  std::array<std::uint64_t, kBuckets> counts{};

  void add(std::uint64_t size) {
    const unsigned width = static_cast<unsigned>(std::bit_width(size));
    ++counts[width <= 3 ? 0 : std::min(width - 3, kBuckets - 1)];
  }
};

// The same by powers of two, with sum and largest: counts[0] of 0, counts[k] of 2^(k-1) to 2^k - 1.
struct PowerHistogram {
  std::array<std::uint64_t, 33> counts{};
  std::uint64_t sum = 0;
  std::uint64_t max = 0;

  void add(std::uint64_t value) {
    ++counts[std::min<std::size_t>(std::bit_width(value), counts.size() - 1)];
    sum += value;
    max = std::max(max, value);
  }
};

// Of the transactions that begin at one place.
struct HtmSite {
  std::uint64_t transactions = 0;
  std::uint64_t commits = 0;
  std::uint64_t restarts = 0;
  std::uint64_t fallbacks = 0;   // xbegin that answered below 0
  std::uint64_t cycles = 0;      // of committed attempts, from begin to commit
  std::uint64_t wait_cycles = 0; // backoffs, and what aborts cost
  std::uint64_t lost_cycles = 0; // of attempts that aborted
  std::array<std::uint64_t, kAbortCauses> causes{};
  PowerHistogram retries; // of each commit; the next two, too
  PowerHistogram read_blocks;
  PowerHistogram written_blocks;
};

struct HtmCounters {
  std::uint64_t transactions = 0; // first attempts of outermost begins
  std::uint64_t commits = 0;
  std::uint64_t restarts = 0; // attempts that aborted
  std::uint64_t unique_restarts = 0;
  std::uint64_t fallbacks = 0;
  std::uint64_t begun_in_interrupts = 0;
  std::uint64_t begun_in_system_calls = 0;
  std::uint64_t interrupted = 0;           // transactions that a trap has suspended
  std::uint64_t live_stack_overwrites = 0; // that stxsp kept from happening
  std::uint64_t released_bytes = 0;
  std::uint64_t saved_conflicts = 0; // that early release kept from happening
  std::uint64_t overflows = 0;       // attempts with lines that left the caches
  std::uint64_t backoffs = 0;
  std::uint64_t backoff_cycles = 0;
  std::uint64_t stalls = 0;
  std::uint64_t stall_cycles = 0;
  std::uint64_t waits_in_cycles = 0; // that would have closed a cycle
  std::uint64_t cycles = 0;          // of committed attempts
  std::array<std::uint64_t, kAbortCauses> causes{};
  // Of conflicts: with another transaction, with an access outside, with a newer one of the hart.
  std::uint64_t by_transactions = 0;
  std::uint64_t by_accesses = 0;
  std::uint64_t by_newer = 0;
  SizeHistogram bytes;
  SizeHistogram blocks;
  SizeHistogram written_bytes;
  SizeHistogram written_blocks;
  std::map<std::uint64_t, HtmSite> sites; // by HardwareTransaction::site
  // Loser and winner; a winner of 0 is an access outside of transactions.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> pairs;
};

} // namespace tandem::machine
