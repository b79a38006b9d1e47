// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NOrec: no ownership records. The global clock is a sequence lock, odd while a transaction writes
// back; a transaction remembers what it read as values, and looks at them again whenever the clock
// has moved. Very cheap for short transactions on few processors; commits are one at a time.
//
// Opacity: after each read the clock is as it was when all reads were last seen to be valid, so all
// of them were in memory together at that moment.
//
// Orders: a committer makes the clock odd by a seq_cst compare-exchange, stores the data, and makes
// it even by a release store. A reader loads the data and then, after an acquire fence, the clock:
// if the data is a committer's, it sees that committer's odd value or a later one.
//
// A write that has to be in place (barriers.h, in_outer_frame) makes the clock odd at once, as a
// commit does, and it stays odd until the transaction ends: thread.snapshot is the odd value then,
// which is how one knows. Others wait.
//
// A transaction joins (publishes its mark, and takes its snapshot) when it first needs memory to
// stay as it is: at its first read, or at its begin if the thread's last one has read something,
// which is the quicker way. Until then its snapshot is kNotJoined, which the clock never is, and
// Thread::quick_end and values_end are null, so that the fast paths of reads find it out with a
// comparison that they make anyhow, before they touch the data or the clock. One that has read
// nothing has nothing that others could change or free before it ends. If it has written, it
// commits without a mark, as a short section does (transaction/short.h):
//
//     its commit        clock odd (locked); the serial word taken? the algorithm another one? then
//                       even again, and nothing was done
//     who will be serial the word (locked); all marks 0; the clock even
//
// Source: Dalessandro, Spear, Scott: NOrec: streamlining STM by abolishing ownership records.
#pragma once

#include "runtime/algorithms/additions.h"
#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/write_back.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/memory/cell.h"
#include "runtime/processor.h"
#include "runtime/settings/settings.h"
#include "runtime/sync/clock.h"
#include "runtime/thread/thread.h"
#include "runtime/wait/wait.h"

#include <atomic>
#include <cstdint>

namespace tandem::norec {

// The clock's value when no transaction is writing back.
std::uint64_t even_time() noexcept;

// Whether the transaction has made the clock odd.
bool owns_clock(const Thread &thread) noexcept;

// Whether the transaction is NOrec's and has not joined.
inline bool not_joined(const Thread &thread) noexcept {
  return thread.mode == Mode::norec && thread.snapshot == kNotJoined;
}

// It joins, if it has not. Restarts it where another thread is serial, or the algorithm has
// changed.
void join(Thread &thread) noexcept;

// Moves the snapshot to the present; joins. False where a read has changed.
bool extend(Thread &thread) noexcept;

// What it has read, for wait::announce.
std::uint64_t interest(Thread &thread) noexcept;

bool commit(Thread &thread, std::uint64_t &time) noexcept;

// The commit of one that is in sections of locks that guard their data, and in no others
// (transaction/guarded_by.h); it does not own the clock. Its locks are still held.
void commit_guarded_by(Thread &thread) noexcept;

// Whether another thread is serial, or the algorithm has changed: what one that has joined knows.
inline bool may_not_commit() noexcept {
  return serial::taken() || settings.algorithm.load(std::memory_order_relaxed) != Algorithm::norec;
}

// The common commit of a transaction that has written: nobody else has committed since its
// snapshot, or it has none. False, and nothing is done, where that is not so. Not in a process that
// is profiled.
bool commit_quickly(Thread &thread, std::uint64_t &time) noexcept;

[[gnu::cold, gnu::noinline, TANDEM_PRESERVE_MOST]] void tell_waiting(Thread &thread) noexcept;
void roll_back(Thread &thread) noexcept;

// A transaction begins; its logs are empty, and the ends of the log of reads null.
[[gnu::always_inline]] inline void start(Thread &thread) noexcept {
  thread.mode = Mode::norec;
  thread.barriers = &norec_barriers;
  thread.written = 0;
  thread.only_guarded_by = false;
  allow_quick_writes(thread);
}

// The same for one that has joined, and for one that will.
[[gnu::always_inline]] inline void start_joined(Thread &thread) noexcept {
  start(thread);
  thread.quick_end = thread.values_end = thread.values.limit();
}
[[gnu::always_inline]] inline void start_not_joined(Thread &thread) noexcept {
  start(thread);
  thread.snapshot = kNotJoined;
  thread.known_quiesced = kNotJoined; // of nothing that it has read
}

// It has ended: empties its logs. The first is for one that has written nothing.
[[gnu::always_inline]] inline void forget_reads(Thread &thread) noexcept {
  thread.writes.forbid_quick();
  thread.quick_end = thread.values_end = nullptr;
  thread.joins_late = thread.values.empty();
  thread.values.clear();
}
[[gnu::always_inline]] inline void forget(Thread &thread) noexcept {
  forget_reads(thread);
  thread.writes.clear();
}

[[gnu::always_inline]] inline bool commit_quickly(Thread &thread, std::uint64_t &time) noexcept {
  const bool joined = thread.snapshot != kNotJoined;
  std::uint64_t before =
      joined ? thread.snapshot : sync::global_clock.now.load(std::memory_order_relaxed);
  time = before + 2;
  // seq_cst: before the loads of the marks (sync::quiesce), and of the serial word.
  if ((before & 1) != 0 || !sync::global_clock.now.compare_exchange_strong(before, before + 1))
      [[unlikely]]
    return false;
  if (!joined && may_not_commit()) [[unlikely]] {
    sync::global_clock.now.fetch_add(1); // others may count commits now
    return false;
  }
  std::atomic_thread_fence(std::memory_order_release);
  thread.writes.write_back();
  if (!thread.additions.empty()) [[unlikely]]
    additions::apply(thread);
  sync::global_clock.now.store(time, std::memory_order_release);
  if (wait::anybody()) [[unlikely]]
    tell_waiting(thread);
  forget(thread);
  return true;
}

// Everything that the fast paths below do not do: in tail position, so that they need no stack
// frame.
template <memory::Word U> U read_slowly(const U *address, Thread *thread) noexcept;
// The same for one that has not joined.
template <memory::Word U> U read_first(const U *address, Thread *thread) noexcept;
template <memory::Word U> void write_slowly(U *address, U value, Thread *thread) noexcept;

// The fast paths. False, and nothing is done, where it takes more. `S` says where the process's
// state is (barriers.h, InLibrary).
template <class S> struct Quick {
  // The transaction may be in any mode, and of one that has written nothing the address may have
  // any alignment: what is read of two words is of one time, as the clock shows. Also for captured
  // memory: extend() asks is_private where such a value has changed.
  template <memory::Word U>
  [[gnu::always_inline]] static bool read(const U *address, U &value, Thread *thread) noexcept {
    memory::CellValue *end = thread->values.end();
    if (end >= thread->quick_end &&
        (end >= thread->values_end || !memory::aligned(address) ||
         (thread->written & written_bit(reinterpret_cast<std::uintptr_t>(address))) != 0))
        [[unlikely]]
      return false;
    return read_valid(address, value, end, thread);
  }
  // As read, for one that has written nothing; false where it has. One comparison says so, and the
  // mode with it.
  template <memory::Word U>
  [[gnu::always_inline]] static bool read_unwritten(const U *address, U &value,
                                                    Thread *thread) noexcept {
    memory::CellValue *end = thread->values.end();
    return end < thread->quick_end && read_valid(address, value, end, thread);
  }
  // Of one that may have written there.
  template <memory::Word U>
  [[gnu::always_inline]] static bool read_again(const U *address, U &value,
                                                Thread *thread) noexcept {
    value = memory::load(address);
    std::atomic_thread_fence(std::memory_order_acquire);
    memory::CellValue *end = thread->values.end();
    if (S::clock(thread).load(std::memory_order_relaxed) != thread->snapshot ||
        end >= thread->values_end) [[unlikely]]
      return false;
    bool own = false;
    if (!own_quickly(address, value, own, thread)) [[unlikely]]
      return false;
    if (!own)
      thread->values.push_at(end, {memory::Cell(address), value});
    return true;
  }
  template <memory::Word U>
  [[gnu::always_inline]] static bool write(U *address, U value, Thread *thread) noexcept {
    return may_put_quickly(address, thread) && put_quickly(address, value, thread);
  }
  // Reads, adds, and writes.
  template <memory::Word U>
  [[gnu::always_inline]] static bool add(U *address, U by, Thread *thread) noexcept {
    memory::CellValue *end = thread->values.end();
    if (end >= thread->values_end || !may_put_quickly(address, thread)) [[unlikely]]
      return false;
    const U value = memory::load(address);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (S::clock(thread).load(std::memory_order_relaxed) != thread->snapshot) [[unlikely]]
      return false;
    const WordPart<U> part(address);
    note_write(*thread, part.word);
    const auto added =
        thread->writes.add_quickly(part.word, static_cast<std::uint64_t>(by) << part.shift,
                                   static_cast<std::uint64_t>(value) << part.shift, part.mask);
    if (added == memory::WriteMap::Added::no) [[unlikely]]
      return false;
    if (added == memory::WriteMap::Added::to_memory)
      thread->values.push_at(end, {memory::Cell(address), value});
    return true;
  }

private:
  // There is room in the log, at `end`, and the transaction has not written there.
  template <memory::Word U>
  [[gnu::always_inline]] static bool read_valid(const U *address, U &value, memory::CellValue *end,
                                                Thread *thread) noexcept {
    value = memory::load(address);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (S::clock(thread).load(std::memory_order_relaxed) != thread->snapshot) [[unlikely]]
      return false;
    thread->values.push_at(end, {memory::Cell(address), value});
    return true;
  }
};

// The accesses (barriers.h).
struct Norec {
  // What comes behind Quick::read.
  struct Fast {
    template <memory::Word U>
    [[gnu::always_inline]] static bool read(const U *address, U &value, Thread *thread) noexcept {
      return Quick<InLibrary>::read_again(address, value, thread);
    }
    template <memory::Word U>
    [[gnu::always_inline]] static bool read_for_write(const U *address, U &value,
                                                      Thread *thread) noexcept {
      return Quick<InLibrary>::read_again(address, value, thread);
    }
    template <memory::Word U>
    [[gnu::always_inline]] static bool write(U *address, U value, Thread *thread) noexcept {
      return Quick<InLibrary>::write(address, value, thread);
    }
  };
  template <memory::Word U>
  [[gnu::always_inline]] static U read(const U *address, Thread *thread) noexcept {
    if (thread->snapshot == kNotJoined) [[unlikely]]
      return read_first(address, thread);
    U value;
    if (!Quick<InLibrary>::read(address, value, thread) &&
        !Quick<InLibrary>::read_again(address, value, thread)) [[unlikely]]
      return read_slowly(address, thread);
    return value;
  }
  template <memory::Word U>
  [[gnu::always_inline]] static U read_for_write(const U *address, Thread *thread) noexcept {
    return read(address, thread);
  }
  template <memory::Word U>
  [[gnu::always_inline]] static void write(U *address, U value, Thread *thread) noexcept {
    if (!Quick<InLibrary>::write(address, value, thread)) [[unlikely]]
      return write_slowly(address, value, thread);
  }
};

} // namespace tandem::norec
