// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/sync/quiescence.h"

#include "runtime/sync/futex.h"

namespace tandem::sync {
namespace {

// Rounds of waiting before the other thread is asked to look at the clock: a short transaction ends
// by itself sooner, and being asked costs it a validation.
constexpr std::uint32_t kRoundsBeforeAsking = 32;

[[gnu::noinline]] void wait_for(std::size_t identity, std::uint64_t newest) noexcept {
  const std::atomic<std::uint64_t> &mark = marks[identity].value;
  for (Patience patience;; patience.round()) {
    const std::uint64_t seen = mark.load(std::memory_order_acquire);
    if (seen == 0 || seen >= newest)
      return;
    if (patience.rounds() % kRoundsBeforeAsking == kRoundsBeforeAsking - 1)
      thread_of(identity).signals.fetch_or(kSignalPublish, std::memory_order_relaxed);
  }
}

} // namespace

void quiesce_slowly(std::uint64_t time) noexcept {
  const std::uint64_t newest = encode_mark(time);
  const std::size_t end = marks_end.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < end; ++i) {
    const std::uint64_t seen = marks[i].value.load(std::memory_order_acquire);
    if (seen != 0 && seen < newest) [[unlikely]]
      wait_for(i, newest);
  }
  // Two threads may store out of order: the smaller value is true as well.
  if (global_clock.quiesced.load(std::memory_order_relaxed) < time)
    global_clock.quiesced.store(time, std::memory_order_release);
}

} // namespace tandem::sync
