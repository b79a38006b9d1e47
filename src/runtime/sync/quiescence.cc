// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/sync/quiescence.h"

#include "runtime/profile/profile.h"
#include "runtime/sync/futex.h"

#include <algorithm>

namespace tandem::sync {
namespace {

// Rounds of waiting before the other thread is asked to look at the clock: a short transaction ends
// by itself sooner, and being asked costs it a validation.
constexpr std::uint32_t kRoundsBeforeAsking = 32;

} // namespace

void wait_for(std::size_t identity, std::uint64_t newest) noexcept {
  const profile::Waiting waiting(current_thread);
  const std::atomic<std::uint64_t> &mark = marks[identity].value;
  const auto is_over = [&] {
    const std::uint64_t seen = mark.load(std::memory_order_acquire);
    return seen == 0 || seen >= newest;
  };
  std::atomic<std::uint32_t> &signals = thread_of(identity).signals;
  for (std::uint32_t round = 1; round <= Patience::kSpins; ++round) {
    if (is_over())
      return;
    if (round % kRoundsBeforeAsking == 0)
      signals.fetch_or(kSignalPublish, std::memory_order_relaxed);
    pause();
  }
  // The other thread is not running, reads nothing, or shares its processor with this one. This one
  // sleeps until the other has published a new mark. The end and the restart of a transaction do
  // not wake it, and nothing orders the signals after the mark: a missed wake costs one sleep.
  for (std::int64_t sleep_ns = Patience::kShortestSleepNs; !is_over();
       sleep_ns = std::min(2 * sleep_ns, Patience::kLongestSleepNs)) {
    const std::uint32_t asked =
        signals.fetch_or(kSignalPublish | kSignalWake, std::memory_order_relaxed) | kSignalPublish |
        kSignalWake;
    if (!is_over())
      wait_on_for(signals, asked, sleep_ns);
  }
}

void wake_waiters(Thread &thread) noexcept {
  thread.signals.fetch_and(~(kSignalPublish | kSignalWake), std::memory_order_relaxed);
  wake_all(thread.signals);
}

void quiesce_slowly(std::uint64_t time) noexcept { quiesce_quickly(time); }

} // namespace tandem::sync
