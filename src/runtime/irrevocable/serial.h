// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The right to be the only transaction of the process. Not a readers/writer lock: a transaction
// that starts writes only its own mark and reads one word that is almost never written.
//
// Store-load order, both sides: a transaction exchanges its mark (seq_cst) and then loads the word;
// who acquires exchanges the word and then loads all marks. One of the two sees the other.
//
// Lock order: the word is acquired after the program's locks; inside it nothing of ours but the
// thread pool's lock is acquired.
#pragma once

#include "runtime/thread/thread.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem::serial {

inline constexpr std::uint32_t kFree = 0;
inline constexpr std::uint32_t kHeld = 1;
inline constexpr std::uint32_t kHeldWithWaiters = 2; // somebody sleeps on the word

struct alignas(128) Word {
  std::atomic<std::uint32_t> value{kFree};
  // What else keeps hardware transactions out (algorithms/hardware.h): 1 while a software one
  // writes back; hardware::kOthersRun. Here, because they then read one line at their begin.
  std::atomic<std::uint32_t> writing{0};
};
inline constinit Word word;

inline bool taken() noexcept { return word.value.load(std::memory_order_acquire) != kFree; }

// Whether either of its parts keeps hardware transactions out: in one load, by one of them.
inline bool stops_hardware() noexcept {
  std::uint64_t both = 0;
  static_assert(offsetof(Word, writing) == offsetof(Word, value) + 4);
  __builtin_memcpy(&both, &word, sizeof both);
  return both != 0;
}

// Sleeps until the word has been free for a moment. The caller's mark is 0.
void wait_until_free() noexcept;

// Acquires the word and waits until no other thread has a transaction. The caller's mark is 0;
// `thread` is its Thread, null if it has none.
void acquire(const Thread *thread) noexcept;

// The same for a thread that is in a transaction, whose mark stays. False, and nothing has changed,
// where another thread has the word: then that one waits for the caller.
bool try_upgrade(const Thread &thread) noexcept;

void release() noexcept;

// The two halves of try_upgrade: the word, if it is free, and the end of all other transactions.
bool try_word() noexcept;
void wait_for_all(const Thread *thread) noexcept;

} // namespace tandem::serial
