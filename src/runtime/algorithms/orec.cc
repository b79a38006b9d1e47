// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/algorithms/orec.h"

#include "runtime/algorithms/additions.h"
#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/conflict.h"
#include "runtime/algorithms/write_back.h"
#include "runtime/profile/profile.h"
#include "runtime/sync/clock.h"
#include "runtime/sync/quiescence.h"
#include "runtime/transaction/transaction.h"
#include "runtime/wait/wait.h"

namespace tandem::orec {

alignas(4096) Orec table[kCount];

namespace {

using sync::global_clock;
using transaction::Reason;

// What makes a read not current: another transaction, or a commit.
[[gnu::cold, gnu::noinline]] void blame_read(Thread &thread, std::size_t index,
                                             std::uint64_t word) noexcept {
  profile::blame_read(thread, index);
  if ((word & kHeld) != 0)
    profile::blame_holder(thread, holder_of(word));
  else
    profile::blame_commit(thread, word >> kVersionShift);
}

} // namespace

bool reads_are_current(Thread &thread) noexcept {
  for (std::size_t i = kFirstRead; i < thread.reads.size(); ++i) {
    const std::uint64_t word = thread.reads[i]->load(std::memory_order_acquire);
    if (word > thread.limit && word != thread.lock_word) {
      if (is_profiled(thread)) [[unlikely]]
        blame_read(thread, i, word);
      return false;
    }
  }
  return true;
}

bool extend(Thread &thread) noexcept {
  const std::uint64_t now = global_clock.now.load(std::memory_order_acquire);
  if (!conflict::may_look_again(thread, thread.reads.size()) || !reads_are_current(thread))
    return false;
  thread.snapshot = now;
  thread.limit = limit_of(now);
  // Release: the reads so far are over for whoever waits for this mark.
  thread.mark->store(encode_mark(now), std::memory_order_release);
  return true;
}

std::uint64_t interest(Thread &thread) noexcept {
  std::uint64_t stripes = 0;
  for (std::size_t i = kFirstRead; i < thread.reads.size(); ++i)
    stripes |= wait::bit_of(static_cast<std::uint64_t>(thread.reads[i] - table));
  // What it has itself acquired it may also have read, without logging that.
  for (const OwnedOrec &owned : thread.owned)
    stripes |= wait::bit_of(static_cast<std::uint64_t>(owned.orec - table));
  return stripes;
}

void obey_signals(Thread &thread) noexcept {
  const std::uint32_t signals =
      thread.signals.fetch_and(kLastingSignals, std::memory_order_relaxed);
  if ((signals & kSignalAbort) != 0)
    transaction::restart(thread, Reason::killed);
  if ((signals & kSignalPublish) != 0 && !extend(thread))
    transaction::restart(thread, Reason::validation);
  if ((signals & kSignalWake) != 0)
    sync::wake_waiters(thread);
}

namespace {

void obey_new_signals(Thread &thread) noexcept {
  if ((thread.signals.load(std::memory_order_relaxed) & ~kLastingSignals) != 0)
    obey_signals(thread);
}

} // namespace

void meet_holder(Thread &thread, const Orec &orec, std::uint64_t word, bool writing) noexcept {
  std::uint32_t attempts = 0;
  conflict::meet(thread, holder_of(word), orec, word, writing, attempts);
}

void acquire(Thread &thread, Orec &orec) noexcept {
  thread.owned.reserve(); // without memory for it the orec would stay
  for (;;) {
    std::uint64_t word = orec.load(std::memory_order_acquire);
    if (word == thread.lock_word)
      return;
    if (word > thread.limit) [[unlikely]] {
      if ((word & kHeld) != 0)
        meet_holder(thread, orec, word, true);
      else if (!extend(thread))
        transaction::restart(thread, Reason::validation);
      continue;
    }
    if (orec.acquire(word, thread.lock_word)) {
      thread.owned.push_unchecked({&orec, word});
      return;
    }
  }
}

void tell_waiting(Thread &thread) noexcept {
  std::uint64_t written = 0;
  for (const OwnedOrec &owned : thread.owned)
    written |= wait::bit_of(static_cast<std::uint64_t>(owned.orec - table));
  wait::notify(written);
}

bool commit_eager(Thread &thread, std::uint64_t &time) noexcept {
  if (!thread.writes.empty()) [[unlikely]] // entries for additions
    additions::apply_in_place(thread);
  if (thread.owned.empty()) {
    time = thread.snapshot;
    thread.reads.truncate(kFirstRead);
    return true;
  }
  if (time == 0)
    time = next_time();
  if (has_counters(thread)) [[unlikely]]
    profile::publish(thread, time);
  // Nobody has committed since the snapshot: nothing that was read can have changed.
  if (time != thread.snapshot + 1 && !reads_are_current(thread))
    return false;
  release_all(thread, time);
  thread.reads.truncate(kFirstRead);
  return true;
}

void roll_back_eager(Thread &thread) noexcept {
  thread.contender.waits_for.store(nullptr, std::memory_order_relaxed);
  std::uint64_t time = 0;
  for (const OwnedOrec &owned : thread.owned) {
    std::uint64_t word = owned.before + kIncarnation;
    if ((word & kIncarnationMask) == 0) {
      // All incarnations of this version are used: a new version.
      if (time == 0)
        time = next_time();
      word = time << kVersionShift;
    }
    owned.orec->store(word, std::memory_order_release);
  }
  thread.owned.clear();
  thread.writes.clear(); // entries for additions, or all of lazy's
  thread.reads.truncate(kFirstRead);
}

template <bool kProfiled> bool commit_lazy(Thread &thread, std::uint64_t &time) noexcept {
  if (thread.writes.empty() && thread.owned.empty()) {
    time = thread.snapshot;
    thread.writes.forbid_quick();
    thread.reads.truncate(kFirstRead);
    return true;
  }
  for (const memory::WriteMap::Entry &entry : thread.writes) {
    const auto *word = reinterpret_cast<const void *>(entry.word);
    if constexpr (kProfiled)
      profile::blame_access(thread, word, nullptr);
    acquire(thread, of(word));
  }
  time = next_time();
  if constexpr (kProfiled)
    profile::publish(thread, time);
  if (time != thread.snapshot + 1 && !reads_are_current(thread))
    return false;
  thread.writes.write_back();
  if (!thread.additions.empty()) [[unlikely]]
    additions::apply(thread);
  release_all(thread, time);
  thread.writes.clear();
  thread.reads.truncate(kFirstRead);
  return true;
}

template bool commit_lazy<false>(Thread &thread, std::uint64_t &time) noexcept;
template bool commit_lazy<true>(Thread &thread, std::uint64_t &time) noexcept;

void roll_back_lazy(Thread &thread) noexcept {
  // Some data may have been changed in place, and undone; for the rest it costs others one look.
  roll_back_eager(thread);
}

namespace {

// A read that is consistent with all earlier ones, remembered.
// `from`: the program's call, where the execution is measured.
template <bool kProfiled, memory::Word U>
U read_shared(const U *address, Thread *thread, const void *from) noexcept {
  if constexpr (kProfiled)
    profile::blame_access(*thread, address, from);
  Orec &orec = of(address);
  for (;;) {
    const std::uint64_t word = orec.load(std::memory_order_acquire);
    if (word == thread->lock_word)
      return memory::load(address);
    if (word <= thread->limit) [[likely]] {
      const U value = memory::load(address);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (orec.load(std::memory_order_relaxed) == word) [[likely]] {
        thread->reads.push(&orec);
        if constexpr (kProfiled)
          profile::note_read(*thread, address, from);
        return value;
      }
    } else if ((word & kHeld) != 0) {
      meet_holder(*thread, orec, word, false);
    } else if (!extend(*thread)) {
      transaction::restart(*thread, Reason::validation);
    }
    obey_new_signals(*thread);
  }
}

template <bool kProfiled, memory::Word U>
U read_own_or_shared(const U *address, Thread *thread, const void *from) noexcept {
  if (thread->writes.empty())
    return read_shared<kProfiled>(address, thread, from);
  return overlay(address, thread, [&] { return read_shared<kProfiled>(address, thread, from); });
}

// Of a thread that has signals, as it always has where the execution is measured.
template <memory::Word U>
[[gnu::noinline]] U read_signalled(const U *address, Thread *thread, const void *from) noexcept {
  obey_new_signals(*thread);
  return is_profiled(*thread) ? read_own_or_shared<true>(address, thread, from)
                              : read_own_or_shared<false>(address, thread, nullptr);
}

} // namespace

template <memory::Word U> U read_slowly(const U *address, Thread *thread) noexcept {
  if (thread->signals.load(std::memory_order_relaxed) != 0) [[unlikely]]
    return read_signalled(address, thread, __builtin_return_address(0));
  return read_own_or_shared<false>(address, thread, nullptr);
}

namespace {

// The common acquisition: an orec within the snapshot, with no policy to ask and nobody to tell.
// False, and nothing has changed, where it takes more.
[[gnu::always_inline]] inline bool acquire_quickly(Thread &thread, Orec &orec) noexcept {
  std::uint64_t word = orec.load(std::memory_order_acquire);
  if (word > thread.limit || thread.owned.full() || !thread.additions.empty() ||
      is_profiled(thread) || !orec.acquire(word, thread.lock_word)) [[unlikely]]
    return false;
  thread.owned.push_unchecked({&orec, word});
  return true;
}

} // namespace

template <memory::Word U> U read_for_write_slowly(const U *address, Thread *thread) noexcept {
  if (!maybe_captured(address, thread) && acquire_quickly(*thread, of(address))) [[likely]]
    return memory::load(address);
  if (captured(address, thread))
    return memory::load(address);
  if (is_profiled(*thread)) [[unlikely]]
    profile::blame_access(*thread, address, __builtin_return_address(0));
  if (!thread->additions.empty()) [[unlikely]]
    additions::fold_stripe(*thread, of(address));
  acquire(*thread, of(address));
  return memory::load(address);
}

template <memory::Word U> void write_slowly(U *address, U value, Thread *thread) noexcept {
  if (!maybe_captured(address, thread) && !thread->undo.full() &&
      acquire_quickly(*thread, of(address))) [[likely]] {
    thread->undo.push_unchecked({memory::Cell(address), memory::load(address)});
    std::atomic_thread_fence(std::memory_order_release);
    return memory::store(address, value);
  }
  if (captured(address, thread))
    return write_captured(address, value, thread);
  if (is_profiled(*thread)) [[unlikely]]
    profile::blame_access(*thread, address, __builtin_return_address(0));
  if (!thread->additions.empty()) [[unlikely]]
    additions::fold_stripe(*thread, of(address));
  acquire(*thread, of(address));
  thread->undo.push({memory::Cell(address), memory::load(address)});
  std::atomic_thread_fence(std::memory_order_release);
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

namespace {

struct Lazy {
  template <memory::Word U> static U read(const U *address, Thread *thread) noexcept {
    if (!thread->writes.empty()) [[unlikely]]
      return read_slowly(address, thread);
    return read_quickly(address, thread);
  }
  template <memory::Word U> static U read_for_write(const U *address, Thread *thread) noexcept {
    return read(address, thread);
  }
  template <memory::Word U> static void write(U *address, U value, Thread *thread) noexcept {
    if (!may_put_quickly(address, thread) || !put_quickly(address, value, thread)) [[unlikely]]
      return put_slowly(address, value, thread);
  }

private:
  template <memory::Word U>
  [[gnu::noinline]] static void put_slowly(U *address, U value, Thread *thread) noexcept {
    if (captured(address, thread))
      return write_captured(address, value, thread);
    if (!in_outer_frame(address, thread))
      return put(address, value, thread);
    write_slowly(address, value, thread); // as `eager` does
  }
};

} // namespace
} // namespace tandem::orec

namespace tandem {
constinit const Barriers eager_barriers = make_barriers<orec::Eager>();
constinit const Barriers lazy_barriers = make_barriers<orec::Lazy>();
} // namespace tandem
