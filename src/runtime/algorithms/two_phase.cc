// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/algorithms/two_phase.h"

#include "runtime/algorithms/conflict.h"
#include "runtime/processor.h"
#include "runtime/profile/profile.h"
#include "runtime/sync/futex.h"
#include "runtime/transaction/transaction.h"

#include <bit>
#include <cerrno>
#include <sys/mman.h>

namespace tandem::two_phase {
namespace {

using transaction::Reason;

// Moments that a transaction waits before it asks the policy: most holders end sooner.
constexpr std::uint32_t kPatience = 64;
// The same for readers whom `wanted` holds back.
constexpr std::uint32_t kCourtesy = 128;

void obey_signals(Thread &thread) noexcept {
  const std::uint32_t signals = thread.signals.fetch_and(kSignalProfile, std::memory_order_relaxed);
  if ((signals & kSignalAbort) != 0)
    transaction::restart(thread, Reason::killed);
}

// Whether `orec` stops being `word` within `rounds`.
bool changes(const Orec &orec, std::uint64_t word, std::uint32_t rounds) noexcept {
  for (std::uint32_t round = 0; round < rounds; ++round) {
    if (orec.load(std::memory_order_acquire) != word)
      return true;
    sync::pause();
  }
  return false;
}

// The thread's bit as a reader: none of one without a bit, which is never a reader.
std::uint64_t own_bit(const Thread &thread) noexcept {
  return (thread.limit & kHeld) != 0 ? 0 : thread.limit;
}

// Others have `orec`, as `word` says.
void meet(Thread &thread, Orec &orec, std::uint64_t word, bool writing,
          std::uint32_t &attempts) noexcept {
  if (changes(orec, word, kPatience))
    return;
  // Ages matter from the first conflict on.
  if (thread.contender.started.load(std::memory_order_relaxed) == kNotStarted)
    thread.contender.started.store(processor::ticks(), std::memory_order_relaxed);
  if ((word & kHeld) != 0)
    return conflict::meet(thread, orec::holder_of(word), orec, word, writing, attempts);
  if ((word & kWanted) == 0) {
    if (!orec.acquire(word, word | kWanted))
      return;
    word |= kWanted;
  }
  const std::uint64_t others = word & ~kWanted & ~own_bit(thread);
  Thread &reader = thread_of(static_cast<std::size_t>(std::countr_zero(others)));
  conflict::meet(thread, reader, orec, word, writing, attempts);
}

// Makes the thread the writer. Restarts where that cannot be.
void acquire(Thread &thread, Orec &orec) noexcept {
  thread.owned.reserve(); // without memory for it the lock would stay
  const std::uint64_t own = own_bit(thread);
  for (std::uint32_t attempts = 0;;) {
    std::uint64_t word = orec.load(std::memory_order_acquire);
    if (word == thread.lock_word)
      return;
    if ((word & ~kWanted & ~own) != 0) {
      meet(thread, orec, word, true, attempts);
    } else if (orec.acquire(word, thread.lock_word)) {
      thread.owned.push_unchecked({&orec, 0});
      return;
    }
  }
}

// The common acquisition. False, and nothing has changed, where it takes more.
[[gnu::always_inline]] inline bool acquire_quickly(Thread &thread, Orec &orec) noexcept {
  std::uint64_t word = orec.load(std::memory_order_relaxed);
  if ((word != 0 && word != thread.limit) || thread.owned.full() || is_profiled(thread) ||
      !orec.acquire(word, thread.lock_word)) [[unlikely]]
    return false;
  thread.owned.push_unchecked({&orec, 0});
  return true;
}

} // namespace

void roll_back(Thread &thread) noexcept {
  thread.contender.waits_for.store(nullptr, std::memory_order_relaxed);
  release_all(thread);
  thread.owned.clear();
}

void forget_all_locks() noexcept {
  // Zero pages again, where the program has not locked its memory.
  const int before = errno;
  const bool done = ::madvise(orec::table, sizeof orec::table, MADV_DONTNEED) == 0;
  errno = before;
  if (done)
    return;
  for (Orec &orec : orec::table)
    if (orec.load(std::memory_order_relaxed) != 0)
      orec.store(0, std::memory_order_relaxed);
}

template <memory::Word U> U read_slowly(const U *address, Thread *thread) noexcept {
  if (captured(address, thread))
    return memory::load(address);
  const void *from = __builtin_return_address(0);
  if (is_profiled(*thread)) [[unlikely]]
    profile::blame_access(*thread, address, from);
  Orec &orec = orec::of(address);
  if ((thread->limit & kHeld) != 0) {
    acquire(*thread, orec);
    return memory::load(address);
  }
  thread->reads.reserve(); // as acquire
  for (std::uint32_t attempts = 0;;) {
    if ((thread->signals.load(std::memory_order_relaxed) & ~kSignalProfile) != 0)
      obey_signals(*thread);
    std::uint64_t word = orec.load(std::memory_order_acquire);
    if ((word & (kHeld | thread->limit)) == thread->limit || word == thread->lock_word)
      return memory::load(address);
    if ((word & kHeld) != 0) {
      meet(*thread, orec, word, false, attempts);
      continue;
    }
    if ((word & kWanted) != 0 && changes(orec, word, kCourtesy))
      continue;
    if (!orec.acquire(word, (word & ~kWanted) | thread->limit))
      continue;
    thread->reads.push_unchecked(&orec);
    if (is_profiled(*thread)) [[unlikely]]
      profile::note_read(*thread, address, from);
    return memory::load(address);
  }
}

template <memory::Word U> U read_for_write_slowly(const U *address, Thread *thread) noexcept {
  if (!maybe_captured(address, thread) && acquire_quickly(*thread, orec::of(address))) [[likely]]
    return memory::load(address);
  if (captured(address, thread))
    return memory::load(address);
  if (is_profiled(*thread)) [[unlikely]]
    profile::blame_access(*thread, address, __builtin_return_address(0));
  acquire(*thread, orec::of(address));
  return memory::load(address);
}

template <memory::Word U> void write_slowly(U *address, U value, Thread *thread) noexcept {
  if (!maybe_captured(address, thread) && !thread->undo.full() &&
      acquire_quickly(*thread, orec::of(address))) [[likely]] {
    thread->undo.push_unchecked({memory::Cell(address), memory::load(address)});
    return memory::store(address, value);
  }
  if (captured(address, thread))
    return write_captured(address, value, thread);
  if (is_profiled(*thread)) [[unlikely]]
    profile::blame_access(*thread, address, __builtin_return_address(0));
  acquire(*thread, orec::of(address));
  thread->undo.push({memory::Cell(address), memory::load(address)});
  memory::store(address, value);
}

template std::uint8_t read_slowly(const std::uint8_t *, Thread *) noexcept;
template std::uint16_t read_slowly(const std::uint16_t *, Thread *) noexcept;
template std::uint32_t read_slowly(const std::uint32_t *, Thread *) noexcept;
template std::uint64_t read_slowly(const std::uint64_t *, Thread *) noexcept;
template std::uint8_t read_for_write_slowly(const std::uint8_t *, Thread *) noexcept;
template std::uint16_t read_for_write_slowly(const std::uint16_t *, Thread *) noexcept;
template std::uint32_t read_for_write_slowly(const std::uint32_t *, Thread *) noexcept;
template std::uint64_t read_for_write_slowly(const std::uint64_t *, Thread *) noexcept;
template void write_slowly(std::uint8_t *, std::uint8_t, Thread *) noexcept;
template void write_slowly(std::uint16_t *, std::uint16_t, Thread *) noexcept;
template void write_slowly(std::uint32_t *, std::uint32_t, Thread *) noexcept;
template void write_slowly(std::uint64_t *, std::uint64_t, Thread *) noexcept;

} // namespace tandem::two_phase

namespace tandem {
constinit const Barriers two_phase_barriers = make_barriers<two_phase::TwoPhase>();
} // namespace tandem
