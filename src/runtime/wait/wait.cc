// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/wait/wait.h"

#include "runtime/sync/futex.h"

namespace tandem::wait {
void notify(std::uint64_t written) noexcept {
  const std::size_t end = marks_end.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < end; ++i) {
    Thread &thread = thread_of(i);
    if ((thread.interest.load(std::memory_order_acquire) & written) == 0)
      continue;
    thread.woken.store(1, std::memory_order_release);
    sync::wake_all(thread.woken);
  }
}

void announce(Thread &thread, std::uint64_t interest) noexcept {
  thread.woken.store(0, std::memory_order_relaxed);
  thread.interest.store(interest, std::memory_order_release);
  // seq_cst: before the loads that validate; partner: a writer's locking (wait.h).
  sync::global_clock.waiters.fetch_add(1);
}

void sleep(Thread &thread, std::int64_t longest) noexcept {
  // Acquire: what the waker committed.
  while (thread.woken.load(std::memory_order_acquire) == 0) {
    sync::wait_on_for(thread.woken, 0, longest);
    if (longest != 0)
      return;
  }
}

void forget(Thread &thread) noexcept {
  thread.interest.store(0, std::memory_order_relaxed);
  sync::global_clock.waiters.fetch_sub(1);
}

void forget_other_threads() noexcept {
  const std::size_t end = marks_end.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < end; ++i)
    thread_of(i).interest.store(0, std::memory_order_relaxed);
  sync::global_clock.waiters.store(0, std::memory_order_relaxed);
}

} // namespace tandem::wait
