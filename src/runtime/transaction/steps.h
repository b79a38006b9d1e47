// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parts of begin, commit and restart: private to this folder. The calling thread's own Thread.
#pragma once

#include "runtime/abi/itm.h"
#include "runtime/algorithms/additions.h"
#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/hardware.h"
#include "runtime/algorithms/norec.h"
#include "runtime/algorithms/orec.h"
#include "runtime/algorithms/two_phase.h"
#include "runtime/fatal.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/library/hooks.h"
#include "runtime/profile/profile.h"
#include "runtime/settings/settings.h"
#include "runtime/sync/clock.h"
#include "runtime/sync/hourglass.h"
#include "runtime/sync/quiescence.h"
#include "runtime/sync/readers_writer.h"
#include "runtime/transaction/guarded.h"
#include "runtime/transaction/guarded_by.h"
#include "runtime/transaction/hardware.h"
#include "runtime/transaction/transaction.h"

#include <sys/single_threaded.h>

namespace tandem::transaction {

// Signals of a transaction that begins.
inline std::uint32_t first_signals(const Thread &thread) noexcept {
  return is_profiled(thread) ? kSignalProfile : 0;
}

// Depth of an outermost transaction.
inline std::uint32_t first_depth(const Thread &thread) noexcept {
  return !has_counters(thread) && thread.guard_count == 0 && !readers_writer::in_use() &&
                 !hardware::in_use()
             ? 1
             : kSpecialDepth;
}

// Whether other transactions cannot make it restart: serial, or with its colours.
inline bool is_serial(const Thread &thread) noexcept {
  return thread.mode == Mode::direct || thread.mode == Mode::undo;
}

// Whether the outermost transaction can be undone.
inline bool revocable(const Thread &thread) noexcept {
  const Mode outermost =
      thread.checkpoints.empty() ? thread.mode : thread.checkpoints.begin()->mode;
  return outermost != Mode::direct;
}

inline void set_mode(Thread &thread, Mode mode) noexcept {
  thread.mode = mode;
  switch (mode) {
  case Mode::idle:
  case Mode::direct:
  case Mode::hardware:
    thread.barriers = &direct_barriers;
    return;
  case Mode::undo:
  case Mode::guarded_by:
    thread.barriers = &undo_barriers;
    return;
  case Mode::eager:
    thread.barriers = &eager_barriers;
    return;
  case Mode::lazy:
    thread.barriers = &lazy_barriers;
    return;
  case Mode::norec:
    thread.barriers = &norec_barriers;
    return;
  case Mode::two_phase:
    thread.barriers = &two_phase_barriers;
    return;
  }
}

// After a nested transaction has ended.
inline void resume_quick_writes(Thread &thread) noexcept {
  if (thread.checkpoints.empty() && (thread.mode == Mode::norec || thread.mode == Mode::lazy))
    allow_quick_writes(thread);
}

inline Actions code_path(const Thread &thread, std::uint32_t properties) noexcept {
  return thread.mode == Mode::direct && (properties & itm::kUninstrumentedCode) != 0
             ? itm::kRunUninstrumented
             : itm::kRunInstrumented;
}

// The caller has the right to run serially.
inline Actions run_serially(Thread &thread, bool irrevocable) noexcept {
  thread.irrevocable = irrevocable;
  if (irrevocable && is_profiled(thread)) [[unlikely]]
    profile::irrevocable(thread);
  // One that may have to wait for others must be able to give way to them.
  const bool direct =
      irrevocable ||
      ((thread.properties & itm::kHasNoAbort) != 0 &&
       !(__libc_single_threaded ? library::may_wait_serial.load(std::memory_order_relaxed)
                                : library::must_give_way_at(thread, thread.jump.target)));
  if (!direct) {
    set_mode(thread, Mode::undo);
    return itm::kRunInstrumented | itm::kSaveLiveVariables;
  }
  thread.mode = Mode::direct;
  thread.barriers = &direct_barriers;
  return code_path(thread, thread.properties);
}

inline std::uint64_t clock_now() noexcept {
  return sync::global_clock.now.load(std::memory_order_acquire);
}

// Of algorithms without a clock.
inline std::uint64_t no_clock() noexcept { return 0; }

// Publishes a mark with the present time and waits while another thread is serial, or holds a
// colour of the guard exclusively.
template <std::uint64_t now(), bool kGuarded>
[[gnu::always_inline]] inline void join(Thread &thread) noexcept {
  if ((settings.special & kSpecialHourglass) != 0) [[unlikely]]
    hourglass::pass(thread);
  for (;;) {
    if constexpr (kGuarded)
      guarded::set_marks(thread);
    const std::uint64_t time = now();
    thread.signals.store(first_signals(thread), std::memory_order_relaxed);
    // seq_cst: before the load of the word (serial.h), and before the first read (quiescence.h).
    thread.mark->exchange(encode_mark(time));
    if (!serial::taken() && !(kGuarded && guarded::taken(thread))) [[likely]] {
      thread.snapshot = time;
      break;
    }
    thread.mark->store(0, std::memory_order_release);
    if constexpr (kGuarded)
      guarded::clear_marks(thread);
    const profile::Waiting waiting(thread);
    if (serial::taken())
      serial::wait_until_free();
    if constexpr (kGuarded)
      guarded::wait(thread);
  }
  thread.known_quiesced = sync::global_clock.quiesced.load(std::memory_order_acquire);
}

// Gives up, before the mark, what a speculative transaction has besides it.
inline void leave_shared() noexcept {
  if (readers_writer::in_use()) [[unlikely]]
    readers_writer::leave();
  if (hardware::in_use())
    hardware::leave_software();
}

// Waits for the right to run serially; with its marks where it shares colours.
void acquire_serial(Thread &thread) noexcept;

// Begins by `algorithm`.
template <bool kGuarded> void run_by(Thread &thread, Algorithm algorithm) noexcept {
  switch (algorithm) {
  case Algorithm::htm:
    thread.depth = kSpecialDepth; // its end is counted, also where `auto` changed to htm meanwhile
    hardware::enter_software();
    [[fallthrough]];
  case Algorithm::norec:
    join<norec::even_time, kGuarded>(thread);
    norec::start_joined(thread);
    break;
  case Algorithm::eager:
  case Algorithm::lazy:
    join<clock_now, kGuarded>(thread);
    thread.limit = orec::limit_of(thread.snapshot);
    if (thread.restarts == 0)
      thread.contender.started.store(thread.snapshot, std::memory_order_relaxed);
    thread.contender.size.store(0, std::memory_order_relaxed);
    set_mode(thread, algorithm == Algorithm::eager ? Mode::eager : Mode::lazy);
    if (algorithm == Algorithm::lazy)
      allow_quick_writes(thread);
    break;
  case Algorithm::two_phase:
    join<no_clock, kGuarded>(thread);
    thread.limit = two_phase::bit_of(thread.identity);
    if (thread.restarts == 0)
      thread.contender.started.store(kNotStarted, std::memory_order_relaxed);
    thread.contender.size.store(0, std::memory_order_relaxed);
    set_mode(thread, Mode::two_phase);
    break;
  case Algorithm::serial:
    fatal("a speculative transaction under the algorithm serial");
  }
}

template <bool kGuarded> Actions run_speculatively(Thread &thread) noexcept {
  thread.irrevocable = false;
  for (;;) {
    const Algorithm algorithm = settings.algorithm.load(std::memory_order_relaxed);
    if (algorithm == Algorithm::serial) [[unlikely]] {  // `auto` has changed it
      thread.mark->store(0, std::memory_order_release); // of a begin by another one
      if (is_profiled(thread)) [[unlikely]]
        profile::serialise(thread, profile::SerialCause::algorithm);
      acquire_serial(thread);
      return run_serially(thread, false);
    }
    run_by<kGuarded>(thread, algorithm);
    // Once its mark is out the algorithm stays; it may have changed before.
    if (settings.algorithm.load(std::memory_order_relaxed) == algorithm) [[likely]] {
      if (readers_writer::in_use()) [[unlikely]]
        readers_writer::enter();
      return itm::kRunInstrumented | itm::kSaveLiveVariables;
    }
    norec::forget_reads(thread); // the other's inlined accesses are not NOrec's, nor lazy's
    if (algorithm == Algorithm::htm)
      hardware::leave_software();
    thread.mark->store(0, std::memory_order_release);
    if constexpr (kGuarded)
      guarded::clear_marks(thread);
  }
}

// The first attempt of an outermost transaction.
template <bool kGuarded> Actions begin_speculatively(Thread &thread) noexcept {
  return hardware::in_use() ? begin_in_hardware(thread) : run_speculatively<kGuarded>(thread);
}

// The process has no other thread: nothing to wait for, and no atomic instruction. The word is set
// all the same, for threads that the transaction itself creates.
inline Actions run_single(Thread &thread) noexcept {
  serial::word.value.store(serial::kHeld, std::memory_order_relaxed);
  return run_serially(thread, (thread.properties & itm::kDoesGoIrrevocable) != 0);
}

inline void leave_serial() noexcept {
  if (__libc_single_threaded)
    serial::word.value.store(serial::kFree, std::memory_order_relaxed);
  else
    serial::release();
}

// After the outermost transaction has committed: a read-only one at its snapshot.
[[gnu::always_inline]] inline void leave(Thread &thread, std::uint64_t time) noexcept {
  leave_shared();
  // Release: this transaction is over for whoever waits for the mark.
  thread.mark->store(0, std::memory_order_release);
  if (thread.known_quiesced < time)
    sync::quiesce(time);
  // Whoever enters a section of such a lock now, and takes something out, need not wait for that.
  guarded_by::leave(thread);
}

// Plays the undo log back to position `size`. `frames_end`: the stack pointer of the begin; what is
// below belongs to functions that the transaction called, and is dead or is the caller's.
void play_back(Thread &thread, std::size_t size, std::uintptr_t frames_end) noexcept;

// As if the outermost transaction had not begun, but for the serial word and exclusive colours,
// which it keeps.
void roll_back(Thread &thread) noexcept;

[[noreturn]] void jump_to_begin(Thread &thread, Actions actions) noexcept;

// Runs the outermost transaction again, serially.
[[noreturn]] void restart_serially(Thread &thread, bool irrevocable) noexcept;

// Waits as the thread's back-off says.
void back_off(Thread &thread) noexcept;
// The same after `waits` earlier ones.
void back_off(Thread &thread, std::uint32_t waits) noexcept;
void forget_restarts(Thread &thread) noexcept;

// Runs the outermost transaction speculatively, whether it shares colours or not.
Actions run_speculatively_again(Thread &thread) noexcept;

// Nested transactions (nested.cc).
void commit_nested(Thread &thread) noexcept;
Actions begin_nested(Thread &thread, std::uint32_t properties, const JumpBuffer &from) noexcept;
[[noreturn]] void cancel_nested(Thread &thread) noexcept;

} // namespace tandem::transaction
