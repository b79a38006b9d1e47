// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Locks whose sections stay apart. A section that was made of a lock's region is a transaction, and
// conflicts are found by what it accesses. Where the program promises that what this lock guards is
// guarded by it everywhere (docs/convert.md, `apart`), its sections need not be found out: each of
// them holds a word that stands for the lock, a transaction from where it enters to its end, also
// where it is nested in another lock's; and a short one (short.h) needs nothing but that word: not
// the clock, whose line all threads share, nor a scan of the others' marks.
//
//     short section     word := thread (locked); the serial word taken? then free again, and
//     nothing
//                       was done
//     transaction       word := thread (locked); reads of before are validated again where accesses
//                       do not look at the clock (eager, lazy); commit or undo, then word := free
//     who will be alone the serial word (locked); all marks 0; all words free but its own
//
// Opacity: while a transaction holds the word nobody else writes what the lock guards. Whatever it
// reads there that was written after a commit, it reads after that commit was in the clock; so the
// algorithm's own look at the clock behind that read, or the validation at the entry, finds out
// what changed before.
//
// Privatisation: code that goes on plainly after a short section relies on other sections of the
// same lock, and none of these is under way. What it took from sections of other locks, their own
// commits have waited for.
//
// Nobody waits for ever: who finds the word taken gives up after a while, a short section to be a
// transaction, a transaction to begin again. So words need no order, and two locks may have one.
//
// Not with hardware transactions, whose plain code does not look at the words, nor under `serial`.
#pragma once

#include "runtime/thread/thread.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem::apart {

struct alignas(64) Word {
  std::atomic<std::uint64_t> value;
};

// Values of a word; else held_by() a thread.
inline constexpr std::uint64_t kUnused = 0; // no thread has ever looked at it
inline constexpr std::uint64_t kFree = 1;

constexpr std::uint64_t held_by(std::uint64_t identity) noexcept { return (identity << 1) + 2; }

inline constexpr unsigned kCountLog2 = 10;
extern Word words[std::size_t{1} << kCountLog2];

// Which of the words stands for the lock.
[[gnu::always_inline]] inline std::size_t index_of(const void *lock) noexcept {
  constexpr std::uint64_t kGolden = 0x9E37'79B9'7F4A'7C15;
  return (reinterpret_cast<std::uintptr_t>(lock) >> 3) * kGolden >> (64 - kCountLog2);
}
inline Word &word_of(const void *lock) noexcept { return words[index_of(lock)]; }

// Acquires the word for a short section. False: it is taken.
bool acquire(Word &word, const Thread &thread) noexcept;

// The transaction enters a section of `lock`; at its end the word is free again. May restart it.
void enter(Thread &thread, const void *lock) noexcept;

// The transaction has ended, or has been undone.
void leave_all(Thread &thread) noexcept;
[[gnu::always_inline]] inline void leave(Thread &thread) noexcept {
  if (!thread.apart.empty()) [[unlikely]]
    leave_all(thread);
}

// Returns when every word has been free, or the thread's own, since the serial word was acquired.
// `thread`: null for a thread that has none.
void wait_for_all(const Thread *thread) noexcept;

// In a child process.
void forget_other_threads() noexcept;

} // namespace tandem::apart
