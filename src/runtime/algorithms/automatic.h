// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `auto` in a process with several threads: which algorithm gets most done, measured while the
// program runs. The present one and another take turns in short windows; the one that commits more
// transactions in the same time stays. So it is compared with all others, one after the other, and
// then rests until the next round. What costs NOrec its speed (commits of others make it look at
// everything again) and what costs two-phase locking its own (readers pass the lines of locks
// around) cannot be seen from one transaction, and changes with the phases of a program. One
// transaction at a time (`serial`) is best where they are long and processors few: they run as the
// program was written, without logs.
//
// A change is made by a thread that is between transactions, while it has the serial word and
// nobody else is in a transaction (steps.h, run_speculatively, is the other side). It waits for
// that only for a moment, because a transaction may itself be waiting for what this thread does.
#pragma once

#include "runtime/settings/settings.h"
#include "runtime/thread/thread.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem::automatic {

// Whether a thread that begins an outermost transaction is to look at the time: after more or
// fewer of them, so that it looks some times in the shortest window of a trial. Nested ones and
// attempts are counted too.
[[gnu::always_inline]] inline bool due(const Thread &thread) noexcept {
  return thread.transactions.load() >= thread.look_at;
}
// It does. The thread is the calling one, and has no mark yet. `section`: that it begins; null
// where it was compiled by others. `may_wait`: it is to be a transaction that waits for one that is
// serial.
void look(Thread &thread, const tandem_section *section, bool may_wait) noexcept;
// A thread has its first transaction.
void prepare(Thread &thread) noexcept;
// The program has sections that were a lock's: they do not run by `serial` (automatic.cc, may_run).
extern std::atomic<bool> sections_of_locks;
[[gnu::always_inline]] inline void found_section_of_lock() noexcept {
  if (!sections_of_locks.load(std::memory_order_relaxed))
    sections_of_locks.store(true, std::memory_order_relaxed);
}
// One of its sections does not fit the hardware, time and again: it is to look at the time soon.
void look_soon(Thread &thread) noexcept;

// Transactions between two looks.
inline constexpr std::uint64_t kMostPerLook = 256;
// From what they were, and the nanoseconds that `begins` of them took.
std::uint64_t next_period(std::uint64_t period, std::uint64_t begins,
                          std::uint64_t elapsed) noexcept;

// Makes all transactions from now on run by `algorithm`, norec, two_phase, serial or htm. The
// caller has no mark. False, and nothing has changed, where others do not end their transactions
// soon; or to the last two, which do not look at the words of locks that guard their data, where
// there are such. `may_wait`: as a transaction does that begins under `serial`, until it is serial;
// so from that there is always a way out, however long others are.
bool change_to(Algorithm algorithm, bool may_wait) noexcept;

// A set of algorithms, by the bit 1 << algorithm.
using Algorithms = std::uint32_t;
constexpr Algorithms only(Algorithm algorithm) noexcept {
  return Algorithms{1} << static_cast<unsigned>(algorithm);
}
// Which of `set`, not empty, is tried next. `are_long`: transactions.
Algorithm next_to_try(Algorithms set, bool are_long) noexcept;

// What was done by one algorithm in a trial.
struct Work {
  std::uint64_t commits = 0;
  std::uint64_t ns = 0;
};
enum class Verdict : std::uint8_t { open, keep, change };
// Turns of both algorithms in a trial; of long transactions, which say little in that time, more.
inline constexpr std::size_t kTurns = 3;
inline constexpr std::size_t kMostTurns = 16;
// Whether `other` is to replace `present`, after turn `turn`, the first being 0; open: not known
// yet, never after turn kMostTurns - 1.
Verdict verdict(const Work &present, const Work &other, std::size_t turn) noexcept;

// In a child process, whose only thread may not be the one that measures.
void forget_other_threads() noexcept;

// Changes of the algorithm so far.
std::uint64_t changes() noexcept;

} // namespace tandem::automatic
