// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ownership records: the protocol that `eager` (write-through, undo log) and `lazy` (write-back at
// commit) share. Every 32 bytes of memory map to one orec; a transaction may have written them only
// while it holds the orec.
//
// An orec's word:   63      62 ........ 4   3 ... 1       0
//   free            0       version         incarnation   0
//   held            1       Thread * (63 bits)
//
// Versions are times of the global clock. `word <= thread.limit`, limit = snapshot << 4 | 15, says
// free and not newer than the snapshot in one comparison.
//
// Opacity: a read is the data, between two loads of an orec that are equal and within the
// snapshot. Everything that is read is thus as it was at time `snapshot`. A newer orec makes the
// transaction validate all reads at the current time and move its snapshot there, or restart. The
// incarnation changes when a writer gives up, so that a reader who saw its data sees another word.
//
// Orders: holding an orec is an acquiring compare-exchange before the first store to its data;
// releasing one is a release store after the last. A reader loads the orec (acquire), the data, and
// after an acquire fence the orec again: if the data came from a holder, the second load sees its
// word or a later one.
#pragma once

#include "runtime/algorithms/barriers.h"
#include "runtime/memory/cell.h"
#include "runtime/processor.h"
#include "runtime/sync/clock.h"
#include "runtime/thread/thread.h"
#include "runtime/wait/wait.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem::orec {

inline constexpr unsigned kVersionShift = 4;
inline constexpr std::uint64_t kHeld = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kIncarnation = 2; // the lowest bit of the incarnation
inline constexpr std::uint64_t kIncarnationMask = 0xe;

inline Orec &of(const void *address) noexcept {
  return table[stripe_of(reinterpret_cast<std::uintptr_t>(address))];
}
constexpr std::uint64_t limit_of(std::uint64_t snapshot) {
  return snapshot << kVersionShift | ((1 << kVersionShift) - 1);
}
inline Thread &holder_of(std::uint64_t word) noexcept {
  return *reinterpret_cast<Thread *>(word & ~kHeld);
}

// Position 0 of Thread::reads is a null pointer, so that there always is a last read.
inline constexpr std::size_t kFirstRead = 1;

// Moves the snapshot to the present. False, and nothing has changed, where a read is not current.
bool extend(Thread &thread) noexcept;

// Whether all reads are still as they were at the snapshot, or are held by the thread.
bool reads_are_current(Thread &thread) noexcept;

// What it has read, for wait::announce.
std::uint64_t interest(Thread &thread) noexcept;

// Does what Thread::signals asks for.
void obey_signals(Thread &thread) noexcept;

// Returns when `word`, which is held by another thread, may have gone from `orec`; restarts the
// transaction where the contention policy says so.
void meet_holder(Thread &thread, const Orec &orec, std::uint64_t word, bool writing) noexcept;

// Makes the thread the holder. Restarts where that cannot be.
void acquire(Thread &thread, Orec &orec) noexcept;

// Ends: `eager` has its data in place, `lazy` writes it back between the two steps. `time` is the
// commit's, from next_time(), or 0 where it has none yet.
bool commit_eager(Thread &thread, std::uint64_t &time) noexcept;
template <bool kProfiled> bool commit_lazy(Thread &thread, std::uint64_t &time) noexcept;

// The time of a commit. seq_cst: after all acquisitions, before the loads of the marks
// (sync::quiesce).
inline std::uint64_t next_time() noexcept { return sync::global_clock.now.fetch_add(1) + 1; }

// Publishes what the commit at `time` has written.
[[gnu::always_inline]] inline void release_all(Thread &thread, std::uint64_t time) noexcept;
[[gnu::cold, gnu::noinline, TANDEM_PRESERVE_MOST]] void tell_waiting(Thread &thread) noexcept;

// After the undo log has been played back, if there is one.
void roll_back_eager(Thread &thread) noexcept;
void roll_back_lazy(Thread &thread) noexcept;

[[gnu::always_inline]] inline void release_all(Thread &thread, std::uint64_t time) noexcept {
  const std::uint64_t word = time << kVersionShift;
  for (const OwnedOrec &owned : thread.owned)
    owned.orec->store(word, std::memory_order_release);
  if (wait::anybody()) [[unlikely]]
    tell_waiting(thread);
  thread.owned.clear();
}

// Everything that the fast paths below do not do: in tail position, so that they need no stack
// frame.
template <memory::Word U> U read_slowly(const U *address, Thread *thread) noexcept;
template <memory::Word U> U read_for_write_slowly(const U *address, Thread *thread) noexcept;
template <memory::Word U> void write_slowly(U *address, U value, Thread *thread) noexcept;

// The fast paths of `eager`. False, and nothing is done, where it takes more.
struct Fast {
  template <memory::Word U>
  [[gnu::always_inline]] static bool read(const U *address, U &value, Thread *thread) noexcept {
    Orec &orec = of(address);
    const std::uint64_t word = orec.load(std::memory_order_acquire);
    value = memory::load(address);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (orec.load(std::memory_order_relaxed) != word || word > thread->limit ||
        thread->signals.load(std::memory_order_relaxed) != 0) [[unlikely]]
      return word == thread->lock_word; // its own: only it can have written there
    // Fields of one object are often read one after the other.
    if (thread->reads.back() == &orec)
      return true;
    if (thread->reads.full()) [[unlikely]]
      return false;
    thread->reads.push_unchecked(&orec);
    return true;
  }
  template <memory::Word U>
  [[gnu::always_inline]] static bool read_for_write(const U *address, U &value,
                                                    Thread *thread) noexcept {
    if (of(address).load(std::memory_order_relaxed) != thread->lock_word) [[unlikely]]
      return false;
    value = memory::load(address);
    return true;
  }
  template <memory::Word U>
  [[gnu::always_inline]] static bool write(U *address, U value, Thread *thread) noexcept {
    if (maybe_captured(address, thread) || thread->undo.full() ||
        of(address).load(std::memory_order_relaxed) != thread->lock_word) [[unlikely]]
      return false;
    thread->undo.push_unchecked({memory::Cell(address), memory::load(address)});
    std::atomic_thread_fence(std::memory_order_release);
    memory::store(address, value);
    return true;
  }
};

template <memory::Word U>
[[gnu::always_inline]] inline U read_quickly(const U *address, Thread *thread) noexcept {
  U value;
  if (!Fast::read(address, value, thread)) [[unlikely]]
    return read_slowly(address, thread);
  return value;
}

// The accesses of `eager` (barriers.h).
struct Eager {
  using Fast = orec::Fast;
  template <memory::Word U>
  [[gnu::always_inline]] static U read(const U *address, Thread *thread) noexcept {
    return read_quickly(address, thread);
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

} // namespace tandem::orec
