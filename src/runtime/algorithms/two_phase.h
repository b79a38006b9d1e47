// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two-phase locking: `two-phase`. A transaction locks what it reads, shared, and what it writes,
// and keeps all locks until it ends. There is no clock, nothing is validated, and nobody waits for
// others at a commit: transactions that touch different memory touch no common line. In return a
// first read is an atomic operation, and readers of one place pass its line around.
//
// The locks are the table of orec.h, each for 32 bytes. A word:
//
//   63      62       61 ... 0
//   0       wanted   readers: bit n is the thread of identity n
//   1       Thread * (63 bits) of the writer
//
// Opacity: what a transaction has read stays as it was until it ends. Privatisation: whoever
// unlinks memory writes what leads to it, so that all who have followed that have ended.
//
// `wanted` says that a writer waits for readers, and holds new readers back for a moment. It
// belongs to nobody: a writer's acquisition takes it away, and so does a reader who has waited
// enough.
//
// Deadlocks: who meets a lock asks the contention policy, which in the end makes one of them
// restart; a restart releases everything.
//
// Threads of identity 62 and above have no bit: their reads take locks as writes do.
//
// Orders: every acquisition is an acquiring read-modify-write before the access to the data, every
// release of a lock comes after the last one.
//
// Sources: Dice and Shavit, TLRW: Return of the Read-Write Lock (SPAA 2010), for visible readers;
// Ramalhete et al., 2PLSF (PPoPP 2023), for the claim that this scales.
#pragma once

#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/orec.h"
#include "runtime/memory/cell.h"
#include "runtime/thread/thread.h"

#include <cstdint>

namespace tandem::two_phase {

inline constexpr std::uint64_t kHeld = orec::kHeld;
inline constexpr std::uint64_t kWanted = std::uint64_t{1} << 62;
inline constexpr unsigned kReaders = 62;
// Thread::limit of a thread without a bit: no word has both.
inline constexpr std::uint64_t kNoBit = kHeld | 1;

// Thread::limit of a thread.
constexpr std::uint64_t bit_of(std::uint64_t identity) {
  return identity < kReaders ? std::uint64_t{1} << identity : kNoBit;
}

template <memory::Word U> U read_slowly(const U *address, Thread *thread) noexcept;
template <memory::Word U> U read_for_write_slowly(const U *address, Thread *thread) noexcept;
template <memory::Word U> void write_slowly(U *address, U value, Thread *thread) noexcept;

// Releases all locks: what was written is in place, or has been undone.
[[gnu::always_inline]] inline void release_all(Thread &thread) noexcept {
  // Before the locks for writing: a word that is held has been upgraded.
  for (std::size_t i = orec::kFirstRead; i < thread.reads.size(); ++i) {
    Orec &orec = *thread.reads[i];
    if ((orec.load(std::memory_order_relaxed) & kHeld) == 0)
      orec.clear(thread.limit);
  }
  for (const OwnedOrec &owned : thread.owned)
    owned.orec->store(0, std::memory_order_release);
  thread.reads.truncate(orec::kFirstRead);
}

[[gnu::always_inline]] inline void commit(Thread &thread) noexcept {
  release_all(thread);
  if (thread.owned.empty())
    return;
  if (wait::anybody()) [[unlikely]]
    orec::tell_waiting(thread);
  thread.owned.clear();
}

// After the undo log has been played back.
void roll_back(Thread &thread) noexcept;

// Every lock becomes free, whoever has it. No other thread is there.
void forget_all_locks() noexcept;

// The fast paths. False, and nothing is done, where it takes more.
struct Fast {
  template <memory::Word U>
  [[gnu::always_inline]] static bool read(const U *address, U &value, Thread *thread) noexcept {
    Orec &orec = orec::of(address);
    std::uint64_t word = orec.load(std::memory_order_relaxed);
    if ((word & (kHeld | thread->limit)) != thread->limit && word != thread->lock_word) {
      if (((word | thread->limit) & (kHeld | kWanted)) != 0 || maybe_captured(address, thread) ||
          thread->reads.full() || thread->signals.load(std::memory_order_relaxed) != 0 ||
          !orec.acquire(word, word | thread->limit)) [[unlikely]]
        return false;
      thread->reads.push_unchecked(&orec);
    }
    value = memory::load(address);
    return true;
  }
  template <memory::Word U>
  [[gnu::always_inline]] static bool read_for_write(const U *address, U &value,
                                                    Thread *thread) noexcept {
    if (orec::of(address).load(std::memory_order_relaxed) != thread->lock_word) [[unlikely]]
      return false;
    value = memory::load(address);
    return true;
  }
  template <memory::Word U>
  [[gnu::always_inline]] static bool write(U *address, U value, Thread *thread) noexcept {
    if (maybe_captured(address, thread) || thread->undo.full() ||
        orec::of(address).load(std::memory_order_relaxed) != thread->lock_word) [[unlikely]]
      return false;
    thread->undo.push_unchecked({memory::Cell(address), memory::load(address)});
    memory::store(address, value);
    return true;
  }
};

// The accesses (barriers.h).
struct TwoPhase {
  using Fast = two_phase::Fast;
  template <memory::Word U>
  [[gnu::always_inline]] static U read(const U *address, Thread *thread) noexcept {
    U value;
    if (!Fast::read(address, value, thread)) [[unlikely]]
      return read_slowly(address, thread);
    return value;
  }
  template <memory::Word U>
  [[gnu::always_inline]] static U read_for_write(const U *address, Thread *thread) noexcept {
    U value;
    if (!Fast::read_for_write(address, value, thread)) [[unlikely]]
      return read_for_write_slowly(address, thread);
    return value;
  }
  template <memory::Word U>
  [[gnu::always_inline]] static void write(U *address, U value, Thread *thread) noexcept {
    if (!Fast::write(address, value, thread)) [[unlikely]]
      return write_slowly(address, value, thread);
  }
};

} // namespace tandem::two_phase
