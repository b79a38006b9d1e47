// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/irrevocable/serial.h"

#include "runtime/algorithms/norec.h"
#include "runtime/settings/settings.h"
#include "runtime/sync/clock.h"
#include "runtime/sync/futex.h"
#include "runtime/sync/races.h"
#include "runtime/transaction/guarded_by.h"

namespace tandem::serial {
namespace {

// Under the algorithm `serial` the word goes from one to the other all the time, and waking who
// sleeps would take as long as many a transaction.
constexpr std::uint32_t kYieldsOneAtATime = 640;

} // namespace

// Returns when every other thread's mark has been 0 since the word was acquired. Acquire: what
// those transactions did happens before what the caller does.
void wait_for_all(const Thread *thread) noexcept {
  // Nobody who has a mark runs: `auto` changes to that only while nobody has one, and it has the
  // word.
  if (settings.algorithm == Algorithm::serial)
    return;
  const std::size_t end = marks_end.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < end; ++i) {
    if (thread != nullptr && i == thread->identity)
      continue;
    for (sync::Patience patience; marks[i].value.load(std::memory_order_acquire) != 0;)
      patience.round();
  }
  // Who has no mark and holds a lock's word, or the clock, is in a short section
  // (transaction/short.h).
  guarded_by::wait_for_short_ones();
  const bool own = thread != nullptr && thread->depth != 0 && thread->mode == Mode::norec &&
                   norec::owns_clock(*thread);
  if (settings.algorithm == Algorithm::norec && !own)
    for (sync::Patience patience;
         (sync::global_clock.now.load(std::memory_order_acquire) & 1) != 0;)
      patience.round();
}

void wait_until_free() noexcept {
  for (sync::Patience patience; patience.rounds() < sync::Patience::kSpins; patience.round())
    if (!taken())
      return;
  for (;;) {
    std::uint32_t seen = kHeld;
    if (!word.value.compare_exchange_strong(seen, kHeldWithWaiters, std::memory_order_acquire) &&
        seen == kFree)
      return;
    sync::wait_on(word.value, kHeldWithWaiters);
  }
}

void acquire(const Thread *thread) noexcept {
  std::uint32_t seen = kFree;
  if (!word.value.compare_exchange_strong(seen, kHeld)) {
    sync::Patience patience(settings.algorithm == Algorithm::serial ? kYieldsOneAtATime : 0);
    bool acquired = false;
    while (!patience.is_over() && !acquired) {
      patience.round();
      seen = kFree;
      acquired = !taken() && word.value.compare_exchange_strong(seen, kHeld);
    }
    // Who may have left others sleeping must wake them later, so the state is "with waiters". Who
    // was woken looks for a while: if it looked once, those who run all the time could come before
    // it each time.
    for (;;) {
      for (sync::Patience look; !acquired && look.rounds() < sync::Patience::kSpins; look.round())
        acquired = !taken() && word.value.exchange(kHeldWithWaiters) == kFree;
      acquired = acquired || word.value.exchange(kHeldWithWaiters) == kFree;
      if (acquired)
        break;
      sync::wait_on(word.value, kHeldWithWaiters);
    }
  }
  wait_for_all(thread);
  races::acquired(&word);
}

bool try_word() noexcept {
  std::uint32_t seen = kFree;
  return word.value.compare_exchange_strong(seen, kHeld);
}

bool try_upgrade(const Thread &thread) noexcept {
  if (!try_word())
    return false;
  wait_for_all(&thread);
  races::acquired(&word);
  return true;
}

void release() noexcept {
  races::about_to_release(&word);
  // Release: the next transaction, which loads the word with acquire, sees what this one did.
  if (word.value.exchange(kFree, std::memory_order_acq_rel) == kHeldWithWaiters)
    sync::wake_all(word.value);
}

} // namespace tandem::serial
