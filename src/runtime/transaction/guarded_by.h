// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Locks that guard their data. A section that was made of a lock's region is a transaction, and
// conflicts are found by what it accesses. Where the program promises that what this lock guards is
// guarded by it everywhere (docs/convert.md, `guarded-by`), its sections need not be found out:
// each of them holds a word that stands for the lock, a transaction from where it enters to its
// end, also where it is nested in another lock's; and a short one (short.h) needs nothing but that
// word: not the clock, whose line all threads share, nor a scan of the others' marks.
//
//     short section     word := thread (locked); the serial word taken? then free again
//     transaction       word := thread (locked); commit, or undo; after a commit it waits for
//                       those that do not know it (sync/quiescence.h); word := free
//     one of no other   its accesses come behind that, in place, with an undo log, whatever the
//       lock            algorithm (Mode::guarded_by); its commit is not followed by a wait for
//                       other transactions. Where it comes to another lock it begins again,
//                       as a transaction like others; under NOrec that one looks at no clock
//                       before it comes to the other lock
//     who will be       the serial word (locked); all marks 0; no word held by a short section
//       serial
//
// Opacity: while a transaction holds the word nobody else accesses what the lock guards. Whoever
// held it before has waited until nobody was left who had not seen what he had committed elsewhere.
//
// Privatisation: code that goes on plainly behind a section relies on other sections of the lock,
// and none of these is under way; or on what a transaction brought there from what other locks
// guard, and that one has waited.
//
// Nobody waits for ever: who finds the word taken gives up after a while, a short section to be a
// transaction, a transaction to begin again. So words need no order, and two locks may have one.
//
// Not with hardware transactions, whose plain code does not look at the words, nor under `serial`.
#pragma once

#include "runtime/settings/settings.h"
#include "runtime/thread/thread.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem::guarded_by {

struct alignas(64) Word {
  std::atomic<std::uint64_t> value;
};

// Values of a word.
inline constexpr std::uint64_t kUnused = 0; // no thread has ever looked at it
inline constexpr std::uint64_t kFree = 1;
// Held by a thread's short section, or by its transaction.
constexpr std::uint64_t held_short(std::uint64_t identity) noexcept { return (identity + 1) << 2; }
constexpr std::uint64_t held_long(std::uint64_t identity) noexcept {
  return held_short(identity) | 2;
}
constexpr bool is_held_short(std::uint64_t word) noexcept {
  return word > kFree && (word & 2) == 0;
}

inline constexpr unsigned kCountLog2 = 10;
inline constexpr std::uint64_t kGolden = 0x9E37'79B9'7F4A'7C15; // Fibonacci hashing
extern Word words[std::size_t{1} << kCountLog2];

// Which of the words stands for the lock.
[[gnu::always_inline]] inline std::size_t index_of(const void *lock) noexcept {
  return (reinterpret_cast<std::uintptr_t>(lock) >> 3) * kGolden >> (64 - kCountLog2);
}
inline Word &word_of(const void *lock) noexcept { return words[index_of(lock)]; }

// Whether any word has ever been looked at. Then `auto` does not come to hardware any more, nor to
// `serial`.
bool in_use() noexcept;

// Acquires the word for a short section. False: it is taken.
bool acquire(Word &word, const Thread &thread) noexcept;

// The transaction enters a section of `lock`; at its end the word is free again. May restart it.
void enter(Thread &thread, const void *lock) noexcept;
// The same where the word is free; else false.
bool try_enter(Thread &thread, const void *lock) noexcept;

// Whether a section that has code for Mode::guarded_by begins in it: not where it has led away a
// little while ago, nor under an algorithm that does not look at the words.
bool begins_so(Thread &thread) noexcept;
bool looks_at_words(Algorithm algorithm) noexcept;

// In Mode::guarded_by, where the undo log is full: keeps the oldest entry of each cell, so that a
// loop over few cells needs little memory. Makes room.
void shrink_log(Thread &thread) noexcept;

// In Mode::guarded_by: its locks are still held.
void commit(Thread &thread) noexcept;

// A section of a lock that guards its data begins; the next thing that the transaction does is to
// enter it. If that is its first, it runs beside the clock until it joins the others.
void begin(Thread &thread) noexcept;

// It comes to what other locks guard, or none. May restart it.
void join_others(Thread &thread) noexcept;
[[gnu::always_inline]] inline void join(Thread &thread) noexcept {
  if (thread.only_guarded_by) [[unlikely]]
    join_others(thread);
}

// The transaction has ended, or has been undone.
void leave_all(Thread &thread) noexcept;
[[gnu::always_inline]] inline void leave(Thread &thread) noexcept {
  if (!thread.guarded_by.empty()) [[unlikely]]
    leave_all(thread);
}

// Returns when every word has been without a short section since the serial word was acquired.
// Transactions have marks; one whose mark is 0 may be waiting for the caller before it frees its
// words.
void wait_for_short_ones() noexcept;

// In a child process.
void forget_other_threads() noexcept;

} // namespace tandem::guarded_by
