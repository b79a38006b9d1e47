// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/transaction/short.h"

#include "runtime/abi/itm_export.h"
#include "runtime/algorithms/automatic.h"
#include "runtime/algorithms/two_phase.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/settings/settings.h"
#include "runtime/sync/clock.h"
#include "runtime/sync/futex.h"
#include "runtime/sync/quiescence.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/guarded_by.h"
#include "runtime/wait/wait.h"

#include <sys/single_threaded.h>

using namespace tandem;
using sync::global_clock;

namespace {

// What a section has begun by: an even number is the time at which it commits, with the clock.
constexpr std::uint64_t kNot = 0;
constexpr std::uint64_t kSingle = kShortSingle;
constexpr std::uint64_t kLocks = 3;  // two-phase's
constexpr std::uint64_t kLooked = 5; // not a way: it may begin by one

// Attempts to get the clock, each after a longer pause; then a transaction does better.
constexpr std::uint32_t kAttempts = 6;
// Executions that are transactions after one that led away.
constexpr std::uint32_t kSkipped = 8;

bool runs_by(Algorithm algorithm) noexcept {
  return settings.algorithm.load(std::memory_order_relaxed) == algorithm;
}

// Makes the clock odd. Result: the time before; odd: others keep it busy.
[[gnu::always_inline]] inline std::uint64_t acquire_clock() noexcept {
  for (std::uint32_t attempt = 0; attempt < kAttempts; ++attempt) {
    std::uint64_t time = global_clock.now.load(std::memory_order_relaxed);
    // seq_cst: before the loads of the serial word and of the marks.
    if ((time & 1) == 0 && global_clock.now.compare_exchange_strong(time, time + 1)) [[likely]]
      return time;
    for (std::uint32_t i = 0; i < 1U << attempt; ++i)
      sync::pause();
  }
  return 1;
}

[[gnu::always_inline]] inline std::uint64_t begin_by_clock() noexcept {
  const std::uint64_t before = acquire_clock();
  if ((before & 1) != 0) [[unlikely]]
    return kNot;
  if (serial::taken() || !runs_by(Algorithm::norec)) [[unlikely]] {
    global_clock.now.fetch_add(1); // others may count commits now
    return kNot;
  }
  // Release: who sees one of the stores that follow sees the odd clock.
  std::atomic_thread_fence(std::memory_order_release);
  return before + 2;
}

void release_locks(Thread &thread) noexcept {
  for (const OwnedOrec &owned : thread.owned)
    owned.orec->store(0, std::memory_order_release);
  thread.owned.clear();
  // Release: it is over for a transaction that waits to run serially.
  thread.mark->store(0, std::memory_order_release);
}

bool acquire_locks(Thread &thread, const tandem_short_place &place) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(place.address);
  const std::uintptr_t last = (address + place.bytes - 1) >> orec::kStripeLog2;
  for (std::uintptr_t stripe = address >> orec::kStripeLog2; stripe <= last; ++stripe) {
    Orec &orec = orec::table[stripe & (orec::kCount - 1)];
    std::uint64_t word = orec.load(std::memory_order_relaxed);
    if (word == thread.lock_word)
      continue;
    if (word != 0 || !thread.owned.try_reserve() || !orec.acquire(word, thread.lock_word))
        [[unlikely]]
      return false;
    thread.owned.push_unchecked({&orec, 0});
  }
  return true;
}

std::uint64_t begin_by_locks(Thread &thread, const tandem_short_place *places,
                             std::uint32_t count) noexcept {
  // The first acquisition, a locked instruction, comes between this and the load of the word.
  thread.mark->store(encode_mark(0), std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < count; ++i)
    if (!acquire_locks(thread, places[i])) [[unlikely]] {
      release_locks(thread);
      return kNot;
    }
  if (serial::taken() || !runs_by(Algorithm::two_phase)) [[unlikely]] {
    release_locks(thread);
    return kNot;
  }
  return kLocks;
}

// Whether the section led away not long ago. Executions of several threads may count as one.
[[gnu::always_inline]] inline bool skips(std::uint32_t *skipped) noexcept {
  if (skipped == nullptr)
    return false;
  const std::atomic_ref<std::uint32_t> left(*skipped);
  const std::uint32_t now = left.load(std::memory_order_relaxed);
  if (now == 0) [[likely]]
    return false;
  left.store(now - 1, std::memory_order_relaxed);
  return true;
}

// kLooked: it is to acquire what it takes. Else what its begin is to return.
[[gnu::always_inline]] inline std::uint64_t first_look(const Thread *thread,
                                                       std::uint32_t *skipped) noexcept {
  if (thread == nullptr || thread->depth != 0) [[unlikely]]
    return kNot;
  const std::uint32_t special = settings.special;
  if ((special & ~(kSpecialSerial | kSpecialAdapt)) != 0) [[unlikely]]
    return kNot;
  if (skips(skipped)) [[unlikely]]
    return kNot;
  if ((special & kSpecialSerial) != 0 && __libc_single_threaded)
    return kSingle;
  if ((special & kSpecialAdapt) != 0 && automatic::due(*thread)) [[unlikely]]
    return kNot; // it looks as a transaction
  return kLooked;
}

// Algorithms whose transactions hold the words of locks that guard their data.
bool holds_words(Algorithm algorithm) noexcept {
  return algorithm != Algorithm::serial && algorithm != Algorithm::htm;
}

void release_word(std::uint64_t how) noexcept {
  reinterpret_cast<guarded_by::Word *>(how)->value.store(guarded_by::kFree,
                                                         std::memory_order_release);
}

} // namespace

TANDEM_ITM std::uint64_t _TANDEM_short_begin(std::uint32_t *skipped,
                                             const tandem_short_place *places,
                                             std::uint32_t count) noexcept {
  Thread *thread = current_thread;
  if (const std::uint64_t how = first_look(thread, skipped); how != kLooked) [[unlikely]]
    return how;
  if (runs_by(Algorithm::norec)) {
    // While it waits for the clock.
    for (std::uint32_t i = 0; i < count; ++i)
      __builtin_prefetch(places[i].address, /*rw=*/1);
    return begin_by_clock();
  }
  return runs_by(Algorithm::two_phase) && count != 0 ? begin_by_locks(*thread, places, count)
                                                     : kNot;
}

TANDEM_ITM void _TANDEM_short_end(std::uint64_t how) noexcept {
  if (how == kSingle)
    return;
  ++current_thread->transactions;
  if (how == kLocks) {
    release_locks(*current_thread);
    if (wait::anybody()) [[unlikely]]
      wait::notify(wait::kEverything);
    return;
  }
  global_clock.now.store(how, std::memory_order_release);
  if (wait::anybody()) [[unlikely]]
    wait::notify(wait::kEverything);
  sync::quiesce_quickly(how);
}

TANDEM_ITM void _TANDEM_short_undone(std::uint64_t how, std::uint32_t *skipped) noexcept {
  std::atomic_ref<std::uint32_t>(*skipped).store(kSkipped, std::memory_order_relaxed);
  if (how == kLocks)
    release_locks(*current_thread);
  else if (how != kSingle)
    global_clock.now.store(how, std::memory_order_release);
}

TANDEM_ITM std::uint64_t _TANDEM_short_begin_guarded_by(std::uint32_t *skipped,
                                                        const void *lock) noexcept {
  Thread *thread = current_thread;
  if (const std::uint64_t how = first_look(thread, skipped); how != kLooked) [[unlikely]]
    return how;
  if (!holds_words(settings.algorithm.load(std::memory_order_relaxed))) [[unlikely]] {
    automatic::found_section_of_lock();
    return kNot;
  }
  guarded_by::Word &word = guarded_by::word_of(lock);
  if (!guarded_by::acquire(word, *thread)) [[unlikely]]
    return kNot;
  const auto how = reinterpret_cast<std::uint64_t>(&word);
  if (!serial::taken() && holds_words(settings.algorithm.load(std::memory_order_relaxed)))
      [[likely]] {
    // From now on the code in the program does the same without a call (abi/inline_barriers.cc).
    // That holds for as long as the thread lives: the other settings do not change, and `auto` does
    // not go back to an algorithm that looks at no words.
    thread->guarded_by_holder = guarded_by::held_short(thread->identity);
    return how;
  }
  release_word(how);
  return kNot;
}

TANDEM_ITM void _TANDEM_short_end_guarded_by(std::uint64_t how) noexcept {
  if (how == kSingle)
    return;
  ++current_thread->transactions;
  release_word(how);
  if (wait::anybody()) [[unlikely]]
    wait::notify(wait::kEverything);
}

TANDEM_ITM void _TANDEM_short_undone_guarded_by(std::uint64_t how,
                                                std::uint32_t *skipped) noexcept {
  std::atomic_ref<std::uint32_t>(*skipped).store(kSkipped, std::memory_order_relaxed);
  if (how != kSingle)
    release_word(how);
}
