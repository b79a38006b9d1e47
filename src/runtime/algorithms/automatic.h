// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `auto` in a process with several threads: which algorithm gets most done, measured while the
// program runs. NOrec and two-phase locking (and hardware, where it is there) take turns in short
// windows; the one that commits more transactions in the same time stays, until the next trial.
// What costs NOrec its speed (commits of others make it look at everything again) and what costs
// two-phase locking its own (readers pass the lines of locks around) cannot be seen from one
// transaction, and changes with the phases of a program.
//
// A change is made by a thread that is between transactions, while it has the serial word and
// nobody else is in a transaction (steps.h, run_speculatively, is the other side). It waits for
// that only for a moment, because a transaction may itself be waiting for what this thread does.
#pragma once

#include "runtime/settings/settings.h"

#include <cstddef>
#include <cstdint>

namespace tandem::automatic {

// One transaction in so many of a thread looks at the time. A prime number: nested ones and
// attempts are counted too, and a thread whose outermost transactions are each second or each
// hundredth must come by it as well.
inline constexpr std::uint64_t kTransactionsPerLook = 251;

[[gnu::always_inline]] inline bool due(std::uint64_t count) noexcept {
  return count % kTransactionsPerLook == 0;
}
// The calling thread begins a transaction for which that is so, and has no mark yet.
void look() noexcept;

// Makes all transactions from now on run by `algorithm`, norec, two_phase or htm. The caller has no
// mark. False, and nothing has changed, where others do not end their transactions soon; or to
// hardware, which does not look at the words of locks that stay apart, where there are such.
bool change_to(Algorithm algorithm) noexcept;

// What was done by one algorithm in a trial.
struct Work {
  std::uint64_t commits = 0;
  std::uint64_t ns = 0;
};
enum class Verdict : std::uint8_t { open, keep, change };
// Turns of both algorithms in a trial, at most.
inline constexpr std::size_t kTurns = 3;
// Whether `other` is to replace `present`, after turn `turn`, the first being 0; open: not known
// yet, never after the last one.
Verdict verdict(const Work &present, const Work &other, std::size_t turn) noexcept;

// In a child process, whose only thread may not be the one that measures.
void forget_other_threads() noexcept;

// Changes of the algorithm so far.
std::uint64_t changes() noexcept;

} // namespace tandem::automatic
