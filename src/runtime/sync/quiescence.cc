// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/sync/quiescence.h"

#include "runtime/profile/profile.h"
#include "runtime/sync/futex.h"

namespace tandem::sync {
namespace {

// Rounds of waiting before the other thread is asked to look at the clock: a short transaction ends
// by itself sooner, and being asked costs it a validation.
constexpr std::uint32_t kRoundsBeforeAsking = 32;

} // namespace

void wait_for(std::size_t identity, std::uint64_t newest) noexcept {
  const profile::Waiting waiting(current_thread);
  const std::atomic<std::uint64_t> &mark = marks[identity].value;
  for (Patience patience;; patience.round()) {
    const std::uint64_t seen = mark.load(std::memory_order_acquire);
    if (seen == 0 || seen >= newest)
      return;
    if (patience.rounds() % kRoundsBeforeAsking == kRoundsBeforeAsking - 1)
      thread_of(identity).signals.fetch_or(kSignalPublish, std::memory_order_relaxed);
  }
}

void quiesce_slowly(std::uint64_t time) noexcept { quiesce_quickly(time); }

} // namespace tandem::sync
