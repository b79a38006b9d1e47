// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/algorithms/norec.h"

#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/write_back.h"
#include "runtime/sync/clock.h"
#include "runtime/sync/futex.h"
#include "runtime/transaction/transaction.h"

namespace tandem::norec {
namespace {

using sync::global_clock;
using transaction::Reason;

} // namespace

std::uint64_t even_time() noexcept {
  for (sync::Patience patience;; patience.round()) {
    const std::uint64_t time = global_clock.now.load(std::memory_order_acquire);
    if ((time & 1) == 0)
      return time;
  }
}

bool extend(Thread &thread) noexcept {
  for (;;) {
    const std::uint64_t time = even_time();
    for (const memory::CellValue &read : thread.values)
      if (read.cell.load() != read.value && !is_private(read.cell.address(), &thread))
        return false;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (global_clock.now.load(std::memory_order_relaxed) != time)
      continue; // some values may be from before a commit and some from after
    thread.snapshot = time;
    // Release: the reads so far are over for whoever waits for this mark.
    thread.mark->store(encode_mark(time), std::memory_order_release);
    return true;
  }
}

bool commit(Thread &thread, std::uint64_t &time) noexcept {
  if (thread.writes.empty()) {
    time = thread.snapshot;
    thread.values.clear();
    return true;
  }
  for (;;) {
    std::uint64_t expected = thread.snapshot;
    // seq_cst: before the loads of the marks (sync::quiesce).
    if (global_clock.now.compare_exchange_strong(expected, expected + 1))
      break;
    if (!extend(thread))
      return false;
  }
  std::atomic_thread_fence(std::memory_order_release);
  thread.writes.write_back();
  time = thread.snapshot + 2;
  global_clock.now.store(time, std::memory_order_release);
  thread.writes.clear();
  thread.values.clear();
  return true;
}

void roll_back(Thread &thread) noexcept {
  thread.values.clear();
  if (!thread.writes.empty())
    thread.writes.clear();
}

namespace {

// A read that is consistent with all earlier ones, remembered.
template <memory::Word U> U read_shared(const U *address, Thread *thread) noexcept {
  for (;;) {
    const U value = memory::load(address);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (global_clock.now.load(std::memory_order_relaxed) == thread->snapshot) {
      thread->values.push({memory::Cell(address), value});
      return value;
    }
    if (!extend(*thread))
      transaction::restart(*thread, Reason::validation);
  }
}

} // namespace

template <memory::Word U> U read_slowly(const U *address, Thread *thread) noexcept {
  if (thread->writes.empty())
    return read_shared(address, thread);
  return overlay(address, thread, [&] { return read_shared(address, thread); });
}

template <memory::Word U> void write_slowly(U *address, U value, Thread *thread) noexcept {
  if (captured(address, thread))
    return write_captured(address, value, thread);
  put(address, value, thread);
}

template std::uint8_t read_slowly(const std::uint8_t *, Thread *) noexcept;
template std::uint16_t read_slowly(const std::uint16_t *, Thread *) noexcept;
template std::uint32_t read_slowly(const std::uint32_t *, Thread *) noexcept;
template std::uint64_t read_slowly(const std::uint64_t *, Thread *) noexcept;
template void write_slowly(std::uint8_t *, std::uint8_t, Thread *) noexcept;
template void write_slowly(std::uint16_t *, std::uint16_t, Thread *) noexcept;
template void write_slowly(std::uint32_t *, std::uint32_t, Thread *) noexcept;
template void write_slowly(std::uint64_t *, std::uint64_t, Thread *) noexcept;

} // namespace tandem::norec

namespace tandem {
constinit const Barriers norec_barriers = make_barriers<norec::Norec>();
} // namespace tandem
