// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/algorithms/norec.h"

#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/conflict.h"
#include "runtime/algorithms/hardware.h"
#include "runtime/algorithms/orec.h"
#include "runtime/algorithms/write_back.h"
#include "runtime/profile/profile.h"
#include "runtime/sync/clock.h"
#include "runtime/sync/futex.h"
#include "runtime/sync/quiescence.h"
#include "runtime/transaction/transaction.h"
#include "runtime/wait/wait.h"

namespace tandem::norec {
namespace {

using sync::global_clock;
using transaction::Reason;

[[gnu::cold, gnu::noinline]] void blame(Thread &thread, memory::Cell cell) noexcept {
  const auto *address = reinterpret_cast<const void *>(cell.address());
  profile::blame_access(thread, address, nullptr);
  profile::blame_commit_since(thread, address, thread.snapshot);
}

} // namespace

void tell_waiting(Thread &thread) noexcept {
  std::uint64_t written = 0;
  for (const memory::WriteMap::Entry &entry : thread.writes)
    written |= wait::bit_of(orec::stripe_of(entry.word));
  for (const memory::CellValue &old : thread.undo)
    written |= wait::bit_of(orec::stripe_of(old.cell.address()));
  wait::notify(written);
}

bool owns_clock(const Thread &thread) noexcept { return (thread.snapshot & 1) != 0; }

std::uint64_t interest(Thread &thread) noexcept {
  std::uint64_t stripes = 0;
  for (const memory::CellValue &read : thread.values) {
    // A read of any alignment may reach into the next stripe.
    const std::uintptr_t last = read.cell.address() + read.cell.bytes() - 1;
    stripes |=
        wait::bit_of(orec::stripe_of(read.cell.address())) | wait::bit_of(orec::stripe_of(last));
  }
  return stripes;
}

namespace {

[[gnu::cold, gnu::noinline]] std::uint64_t wait_until_even() noexcept {
  const profile::Waiting waiting(current_thread);
  for (sync::Patience patience;; patience.round()) {
    const std::uint64_t time = global_clock.now.load(std::memory_order_acquire);
    if ((time & 1) == 0)
      return time;
  }
}

} // namespace

std::uint64_t even_time() noexcept {
  const std::uint64_t time = global_clock.now.load(std::memory_order_acquire);
  return (time & 1) == 0 ? time : wait_until_even();
}

namespace {

[[noreturn, gnu::cold, gnu::noinline]] void refuse_to_join(Thread &thread) noexcept {
  transaction::restart(thread, Reason::serial);
}

// It has not joined. `time`: the clock's, even.
[[gnu::always_inline]] inline void join_at(Thread &thread, std::uint64_t time) noexcept {
  // seq_cst: before the load of the word (serial.h), and before the first read (quiescence.h).
  thread.mark->exchange(encode_mark(time));
  if (may_not_commit()) [[unlikely]]
    refuse_to_join(thread);
  thread.snapshot = time;
  thread.known_quiesced = global_clock.quiesced.load(std::memory_order_acquire);
  thread.values_end = thread.values.limit();
  if (thread.writes.empty())
    thread.quick_end = thread.values_end;
}

} // namespace

void join(Thread &thread) noexcept {
  if (not_joined(thread))
    join_at(thread, even_time());
}

bool extend(Thread &thread) noexcept {
  if (thread.snapshot == kNotJoined) {
    join_at(thread, even_time());
    return true; // it has read nothing
  }
  if (owns_clock(thread))
    return true; // nobody else has committed
  if (thread.only_guarded_by) {
    thread.snapshot = even_time();
    return true; // nobody else may change what it has read
  }
  for (;;) {
    const std::uint64_t time = even_time();
    if (!conflict::may_look_again(thread, thread.values.size())) [[unlikely]]
      return false;
    for (const memory::CellValue &read : thread.values)
      if (read.cell.load() != read.value && !is_private(read.cell.address(), &thread)) {
        if (is_profiled(thread)) [[unlikely]]
          blame(thread, read.cell);
        return false;
      }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (global_clock.now.load(std::memory_order_relaxed) != time)
      continue; // some values may be from before a commit and some from after
    thread.snapshot = time;
    // Release: the reads so far are over for whoever waits for this mark.
    thread.mark->store(encode_mark(time), std::memory_order_release);
    if ((thread.signals.load(std::memory_order_relaxed) & kSignalWake) != 0) [[unlikely]]
      sync::wake_waiters(thread);
    return true;
  }
}

namespace {

// Makes the clock odd; afterwards nobody else reads or commits. False where a read has changed.
bool acquire_clock(Thread &thread) noexcept {
  if (owns_clock(thread))
    return true;
  for (;;) {
    std::uint64_t expected = thread.snapshot;
    // seq_cst: before the loads of the marks (sync::quiesce).
    if (global_clock.now.compare_exchange_strong(expected, expected + 1))
      break;
    if (!extend(thread))
      return false;
  }
  ++thread.snapshot;
  hardware::stop_all();
  return true;
}

} // namespace

void commit_guarded_by(Thread &thread) noexcept {
  thread.writes.write_back();
  if (!thread.additions.empty()) [[unlikely]]
    additions::apply(thread);
  if (wait::anybody()) [[unlikely]]
    tell_waiting(thread);
  thread.only_guarded_by = false;
  forget(thread);
}

bool commit(Thread &thread, std::uint64_t &time) noexcept {
  if (thread.only_guarded_by && !owns_clock(thread)) {
    time = 0; // no other transaction has to know
    commit_guarded_by(thread);
    return true;
  }
  thread.only_guarded_by = false;
  if (thread.writes.empty() && !owns_clock(thread)) {
    time = thread.snapshot;
    forget_reads(thread);
    return true;
  }
  std::uint64_t before = thread.snapshot;
  if ((before & 1) == 0) [[likely]] {
    // seq_cst: before the loads of the marks (sync::quiesce).
    while (!global_clock.now.compare_exchange_strong(before, before + 1)) {
      if (!extend(thread))
        return false;
      before = thread.snapshot;
    }
    hardware::stop_all();
  } else {
    --before; // it has been odd since a write in place
  }
  time = before + 2;
  if (has_counters(thread)) [[unlikely]]
    profile::publish(thread, time);
  thread.writes.write_back();
  if (!thread.additions.empty()) [[unlikely]]
    additions::apply(thread);
  hardware::let_run();
  global_clock.now.store(time, std::memory_order_release);
  if (wait::anybody()) [[unlikely]]
    tell_waiting(thread);
  forget(thread);
  return true;
}

void roll_back(Thread &thread) noexcept {
  thread.only_guarded_by = false;
  if (owns_clock(thread)) {
    // What was written in place has been undone; who has seen it must look again.
    ++thread.snapshot;
    hardware::let_run();
    global_clock.now.store(thread.snapshot, std::memory_order_release);
  }
  forget(thread);
}

namespace {

// A read that is consistent with all earlier ones, remembered.
template <memory::Word U> U read_shared(const U *address, Thread *thread) noexcept {
  for (;;) {
    const U value = memory::load(address);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (global_clock.now.load(std::memory_order_relaxed) == thread->snapshot) {
      thread->values.push({memory::Cell(address), value});
      thread->values_end = thread->values.limit();
      return value;
    }
    if (!extend(*thread))
      transaction::restart(*thread, Reason::validation);
  }
}

} // namespace

template <memory::Word U> U read_slowly(const U *address, Thread *thread) noexcept {
  if (thread->writes.empty()) {
    const U value = read_shared(address, thread);
    thread->quick_end = thread->values.limit();
    return value;
  }
  return overlay(address, thread, [&] { return read_shared(address, thread); });
}

// Without a stack frame where the transaction has written nothing.
template <memory::Word U> U read_first(const U *address, Thread *thread) noexcept {
  const std::uint64_t time = global_clock.now.load(std::memory_order_acquire);
  if (thread->writes.empty() && (time & 1) == 0) [[likely]] {
    join_at(*thread, time);
    U value;
    if (Quick<InLibrary>::read_unwritten(address, value, thread)) [[likely]]
      return value;
  }
  return read_slowly(address, thread);
}

template <memory::Word U> void write_slowly(U *address, U value, Thread *thread) noexcept {
  if (captured(address, thread))
    return write_captured(address, value, thread);
  if (!in_outer_frame(address, thread))
    return put(address, value, thread);
  if (!acquire_clock(*thread))
    transaction::restart(*thread, Reason::validation);
  thread->undo.push({memory::Cell(address), memory::load(address)});
  memory::store(address, value);
}

template std::uint8_t read_slowly(const std::uint8_t *, Thread *) noexcept;
template std::uint16_t read_slowly(const std::uint16_t *, Thread *) noexcept;
template std::uint32_t read_slowly(const std::uint32_t *, Thread *) noexcept;
template std::uint64_t read_slowly(const std::uint64_t *, Thread *) noexcept;
template std::uint8_t read_first(const std::uint8_t *, Thread *) noexcept;
template std::uint16_t read_first(const std::uint16_t *, Thread *) noexcept;
template std::uint32_t read_first(const std::uint32_t *, Thread *) noexcept;
template std::uint64_t read_first(const std::uint64_t *, Thread *) noexcept;
template void write_slowly(std::uint8_t *, std::uint8_t, Thread *) noexcept;
template void write_slowly(std::uint16_t *, std::uint16_t, Thread *) noexcept;
template void write_slowly(std::uint32_t *, std::uint32_t, Thread *) noexcept;
template void write_slowly(std::uint64_t *, std::uint64_t, Thread *) noexcept;

} // namespace tandem::norec

namespace tandem {
constinit const Barriers norec_barriers = make_barriers<norec::Norec>();
} // namespace tandem
