// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/sync/hourglass.h"

#include "runtime/profile/profile.h"
#include "runtime/sync/futex.h"

#include <atomic>

namespace tandem::hourglass {
namespace {

// 0: open; else identity + 1 of the thread that has closed it, and kSleepers where somebody sleeps.
constexpr std::uint32_t kSleepers = 1U << 31;
static_assert(kMostThreads < kSleepers);

constinit std::atomic<std::uint32_t> word{0};

std::uint32_t name_of(const Thread &thread) noexcept {
  return static_cast<std::uint32_t>(thread.identity) + 1;
}

} // namespace

void pass(Thread &thread) noexcept {
  std::uint32_t seen = word.load(std::memory_order_acquire);
  if (seen == 0 || (seen & ~kSleepers) == name_of(thread))
    return;
  const profile::Waiting waiting(thread);
  for (sync::Patience patience; patience.rounds() < sync::Patience::kSpins; patience.round())
    if (word.load(std::memory_order_acquire) == 0)
      return;
  for (seen = word.load(std::memory_order_acquire); seen != 0;
       seen = word.load(std::memory_order_acquire)) {
    if ((seen & kSleepers) == 0 && !word.compare_exchange_strong(seen, seen | kSleepers))
      continue;
    sync::wait_on(word, seen | kSleepers);
  }
}

void close(Thread &thread) noexcept {
  std::uint32_t seen = 0;
  word.compare_exchange_strong(seen, name_of(thread), std::memory_order_acq_rel);
}

void open(const Thread &thread) noexcept {
  // Others only add kSleepers to the own name.
  if ((word.load(std::memory_order_relaxed) & ~kSleepers) != name_of(thread))
    return;
  if ((word.exchange(0, std::memory_order_acq_rel) & kSleepers) != 0)
    sync::wake_all(word);
}

void forget_other_threads() noexcept {
  const std::uint32_t owner = word.load(std::memory_order_relaxed) & ~kSleepers;
  if (current_thread == nullptr || owner != name_of(*current_thread))
    word.store(0, std::memory_order_relaxed);
}

} // namespace tandem::hourglass
