// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/transaction/transaction.h"

#include "runtime/abi/itm.h"
#include "runtime/actions/actions.h"
#include "runtime/algorithms/automatic.h"
#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/norec.h"
#include "runtime/algorithms/orec.h"
#include "runtime/algorithms/two_phase.h"
#include "runtime/fatal.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/library/hooks.h"
#include "runtime/profile/profile.h"
#include "runtime/settings/settings.h"
#include "runtime/sync/clock.h"
#include "runtime/sync/futex.h"
#include "runtime/sync/quiescence.h"
#include "runtime/transaction/hardware.h"
#include "runtime/transaction/jump.h"
#include "runtime/transaction/steps.h"
#include "runtime/wait/wait.h"

#include <algorithm>
#include <iterator>
#include <sys/single_threaded.h>

namespace tandem::transaction {
namespace {

profile::Cause cause_of(Reason reason) noexcept {
  switch (reason) {
  case Reason::validation:
    return profile::Cause::validation;
  case Reason::conflict:
    return profile::Cause::locked;
  case Reason::killed:
    return profile::Cause::killed;
  case Reason::colour:
    return profile::Cause::colour_taken;
  case Reason::joins:
    return profile::Cause::other_lock;
  case Reason::serial:
    return profile::Cause::serial_pending;
  }
  return profile::Cause::validation;
}

bool try_upgrade(Thread &thread) noexcept {
  const profile::Waiting waiting(thread);
  return serial::try_upgrade(thread);
}

// Makes what the transaction has done so far permanent; no other one is left. False where an
// earlier commit changed what this one has read.
bool commit_in_place(Thread &thread) noexcept {
  std::uint64_t time = 0;
  switch (thread.mode) {
  case Mode::eager:
    return orec::extend(thread) && orec::commit_eager(thread, time);
  case Mode::lazy:
    return orec::extend(thread) && (has_counters(thread) ? orec::commit_lazy<true>(thread, time)
                                                         : orec::commit_lazy<false>(thread, time));
  case Mode::norec:
    return norec::extend(thread) && norec::commit(thread, time);
  case Mode::two_phase:
    two_phase::commit(thread);
    return true;
  case Mode::idle:
  case Mode::direct:
  case Mode::undo:
  case Mode::guarded_by:
  case Mode::hardware:
    break;
  }
  fatal("a transaction that is not speculative is made permanent");
}

} // namespace

void prepare(Thread &thread) noexcept {
  profile::prepare_thread(thread);
  automatic::prepare(thread);
  thread.policy = settings.policy;
  thread.backoff = settings.backoff;
  thread.serialise_after = settings.serialise_after;
  thread.chosen = TANDEM_DEFAULT_OPTIONS;
  thread.depth = 0;
  thread.hardware_ready = kNotReady;
  thread.restarts = 0;
  thread.irrevocable = false;
  thread.coloured = false;
  thread.serial_too = false;
  thread.descriptor = nullptr;
  thread.plan = nullptr;
  thread.guard_count = 0;
  thread.caught = 0;
  thread.signals.store(0, std::memory_order_relaxed);
  thread.reads.clear();
  thread.reads.push(nullptr); // orec::kFirstRead
  norec::forget(thread);      // also what a fork has interrupted
  thread.writes.prepare();
  find_stack(thread);
  thread.owned.clear();
  thread.undo.clear();
  thread.checkpoints.clear();
  thread.user_actions.clear();
  thread.allocations.clear();
  additions::forget(thread);
  thread.guarded_by.clear();
  thread.only_guarded_by = false;
  thread.fresh_bytes = 0;
  thread.throwing = false;
  forget_restarts(thread);
  std::fill(std::begin(thread.guarded_by_skip), std::end(thread.guarded_by_skip), std::uint8_t{0});
  std::fill(std::begin(thread.hardware_skip), std::end(thread.hardware_skip), std::uint8_t{0});
  thread.hardware_trouble = 0;
  std::fill(std::begin(thread.hardware_penalty), std::end(thread.hardware_penalty),
            std::uint8_t{0});
  set_mode(thread, Mode::idle);
  exceptions::prepare(thread);
}

namespace {

// The common ends of an outermost transaction, with nothing to do afterwards, inline and without a
// call. False, and nothing is done, where it takes more.

// Of a process that has one thread.
[[gnu::always_inline]] inline bool commit_single() noexcept {
  if (!__libc_single_threaded)
    return false;
  serial::word.value.store(serial::kFree, std::memory_order_relaxed);
  return true;
}

// One that has only read: what it has read is quiesced.
[[gnu::always_inline]] inline bool commit_reads(Thread &thread) noexcept {
  if (thread.known_quiesced < thread.snapshot)
    return false;
  // Release: this transaction is over for whoever waits for the mark.
  thread.mark->store(0, std::memory_order_release);
  return true;
}

[[gnu::always_inline]] inline bool commit_norec(Thread &thread) noexcept {
  if (thread.writes.empty()) {
    if (norec::owns_clock(thread) || !commit_reads(thread))
      return false;
    norec::forget_reads(thread);
    return true;
  }
  std::uint64_t time = 0;
  if (!norec::commit_quickly(thread, time))
    return false;
  thread.mark->store(0, std::memory_order_release);
  sync::quiesce_quickly(time);
  return true;
}

// `time`: becomes the commit's, even if it takes more.
[[gnu::always_inline]] inline bool commit_eager(Thread &thread, std::uint64_t &time) noexcept {
  if (!thread.writes.empty()) [[unlikely]]
    return false; // additions wait, or have been folded
  if (thread.owned.empty()) {
    if (!commit_reads(thread))
      return false;
  } else {
    time = orec::next_time();
    if (time != thread.snapshot + 1)
      return false; // its reads are to be looked at
    orec::release_all(thread, time);
    thread.mark->store(0, std::memory_order_release);
    sync::quiesce_quickly(time);
  }
  thread.reads.truncate(orec::kFirstRead);
  return true;
}

// In the processor. Out of line, so that the modes below keep the tests that they had.
[[gnu::noinline]] bool commit_elsewhere(Thread &thread) noexcept {
  if (thread.mode != Mode::hardware)
    return false;
  commit_in_hardware(thread);
  return true;
}

[[gnu::always_inline]] inline void end_quickly(Thread &thread) noexcept {
  thread.depth = 0;
  thread.mode = Mode::idle;
  thread.undo.clear();
  thread.caught = 0;
  thread.descriptor = nullptr; // the next one may have none
}

// One that holds locks that guard their data, and has been in no other section.
[[gnu::noinline]] bool commit_guarded_by(Thread &thread) noexcept {
  if (!thread.only_guarded_by || norec::owns_clock(thread))
    return false;
  if (thread.mode == Mode::guarded_by)
    guarded_by::commit(thread);
  else
    norec::commit_guarded_by(thread);
  guarded_by::leave_all(thread);
  thread.mark->store(0, std::memory_order_release);
  end_quickly(thread);
  return true;
}

[[gnu::always_inline]] inline bool commit_quickly(Thread &thread, std::uint64_t &time) noexcept {
  if (thread.depth != 1 || thread.restarts != 0 || actions::pending(thread)) [[unlikely]]
    return false;
  if (thread.only_guarded_by || !thread.guarded_by.empty())
    return commit_guarded_by(thread);
  if (thread.mode == Mode::norec) [[likely]] {
    if (!commit_norec(thread)) [[unlikely]]
      return false;
  } else if (thread.mode == Mode::eager) {
    if (!commit_eager(thread, time)) [[unlikely]]
      return false;
  } else if (thread.mode == Mode::two_phase) {
    two_phase::commit(thread);
    // Release: this transaction is over for whoever wants to run serially.
    thread.mark->store(0, std::memory_order_release);
  } else if (thread.mode == Mode::direct) {
    if (!commit_single())
      return false;
  } else if (!commit_elsewhere(thread)) {
    return false;
  }
  end_quickly(thread);
  return true;
}

template <bool kSpecial> void commit_fully(Thread &thread, std::uint64_t time) noexcept;

// A nested transaction, or one that is counted or has colours.
[[gnu::noinline]] void commit_deep(Thread &thread) noexcept {
  if (thread.depth != kSpecialDepth)
    return commit_nested(thread);
  thread.depth = 1;
  if (!is_profiled(thread))
    return commit_fully<true>(thread, 0);
  const profile::Ending ending = profile::before_commit(thread);
  commit_fully<true>(thread, 0);
  profile::after_commit(thread, ending);
}

// `time`: the commit's, where it has been drawn already.
template <bool kSpecial>
[[gnu::noinline]] void commit_fully(Thread &thread, std::uint64_t time) noexcept {
  if (thread.depth != 1) [[unlikely]]
    return commit_deep(thread);
  if (!thread.user_actions.empty()) [[unlikely]]
    library::before_commit(thread);
  switch (thread.mode) {
  case Mode::idle:
    fatal("a transaction commits that is in no mode");
  case Mode::direct:
  case Mode::undo:
    if (!kSpecial || !thread.coloured)
      leave_serial();
    if (wait::anybody()) [[unlikely]]
      wait::notify(wait::kEverything); // it has logged nothing
    break;
  case Mode::eager:
    if (!orec::commit_eager(thread, time)) [[unlikely]]
      restart(thread, Reason::validation);
    leave(thread, time);
    break;
  case Mode::lazy:
    if (!(kSpecial && has_counters(thread) ? orec::commit_lazy<true>(thread, time)
                                           : orec::commit_lazy<false>(thread, time))) [[unlikely]]
      restart(thread, Reason::validation);
    leave(thread, time);
    break;
  case Mode::norec:
    norec::join(thread);
    if (!norec::commit(thread, time)) [[unlikely]]
      restart(thread, Reason::validation);
    leave(thread, time);
    break;
  case Mode::two_phase:
    two_phase::commit(thread);
    leave(thread, 0);
    break;
  case Mode::guarded_by:
    guarded_by::commit(thread);
    leave(thread, 0);
    break;
  case Mode::hardware:
    commit_in_hardware(thread);
    break;
  }
  thread.depth = 0;
  thread.mode = Mode::idle;
  thread.undo.clear();
  thread.caught = 0;
  thread.descriptor = nullptr;
  if constexpr (kSpecial) {
    guarded::leave(thread);
    thread.plan = nullptr;
  }
  if (thread.restarts != 0) [[unlikely]]
    forget_restarts(thread);
  if (actions::pending(thread)) [[unlikely]] {
    thread.fresh_bytes = 0;
    thread.throwing = false;
    actions::commit(thread);
  }
}

} // namespace

void commit(Thread &thread) noexcept {
  std::uint64_t time = 0;
  if (!commit_quickly(thread, time))
    commit_fully<false>(thread, time);
}

void cancel(Thread &thread, bool outermost) noexcept {
  if (thread.mode == Mode::hardware)
    cancel_in_hardware(thread, outermost);
  if (!outermost && !thread.checkpoints.empty())
    cancel_nested(thread);
  if (!revocable(thread))
    fatal("a transaction is cancelled after it became irrevocable");
  if ((thread.properties & itm::kHasNoAbort) != 0) // its begin would take it for a fresh start
    fatal("a transaction is cancelled that was compiled without a cancel");
  const bool was_serial = is_serial(thread);
  if (is_profiled(thread)) [[unlikely]]
    profile::abort(thread, profile::Cause::cancel);
  roll_back(thread);
  if (was_serial)
    leave_serial();
  else if (thread.known_quiesced < thread.snapshot)
    sync::quiesce(thread.snapshot); // what follows may rely on what the transaction read
  thread.depth = 0;
  thread.mode = Mode::idle;
  thread.guard_count = 0;
  thread.plan = nullptr;
  thread.descriptor = nullptr;
  forget_restarts(thread);
  ++thread.cancelled;
  jump(itm::kAbort | itm::kRestoreLiveVariables, thread.jump);
}

void restart(Thread &thread, Reason reason) noexcept {
  leave_hardware(thread);
  if (is_profiled(thread)) [[unlikely]]
    profile::abort(thread, cause_of(reason));
  thread.contender.priority.fetch_add(thread.contender.size.load(std::memory_order_relaxed),
                                      std::memory_order_relaxed);
  const bool own_fault =
      reason != Reason::serial && reason != Reason::colour && reason != Reason::joins;
  if (own_fault) {
    ++thread.restarts;
    thread.contender.restarts.store(thread.restarts, std::memory_order_relaxed);
    additions::meet_conflict(thread);
  }
  if (thread.restarts >= settings.hourglass_after) [[unlikely]]
    hourglass::close(thread);
  if (thread.restarts >= thread.serialise_after) {
    if (is_profiled(thread)) [[unlikely]]
      profile::serialise(thread, profile::SerialCause::retries);
    if (guarded::takes_colours(thread))
      guarded::restart_exclusively(thread);
    restart_serially(thread, false);
  }
  roll_back(thread);
  if (own_fault)
    back_off(thread);
  if (is_profiled(thread)) [[unlikely]]
    profile::again(thread);
  jump_to_begin(thread, run_speculatively_again(thread));
}

// A log may have stopped growing anywhere within an access, where the transaction can begin again.
void run_without_logs() noexcept {
  Thread *thread = current_thread;
  if (thread == nullptr || thread->depth == 0 || thread->mode == Mode::idle ||
      thread->mode == Mode::direct || thread->mode == Mode::hardware)
    return;
  if (is_profiled(*thread)) [[unlikely]] {
    profile::serialise(*thread, profile::SerialCause::memory);
    profile::abort(*thread, profile::Cause::irrevocable_reached);
  }
  if (!is_serial(*thread)) {
    if (guarded::takes_colours(*thread))
      guarded::restart_exclusively(*thread);
    restart_serially(*thread, true);
  }
  roll_back(*thread);
  if (is_profiled(*thread)) [[unlikely]]
    profile::again(*thread);
  jump_to_begin(*thread, run_serially(*thread, true));
}

namespace {

// What the transaction waits for, and whether it still is as it was read. Afterwards writers that
// change it wake this thread.
bool announce_wait(Thread &thread, std::uint64_t interest) noexcept {
  if (is_serial(thread)) {
    wait::announce(thread, interest != 0 ? interest : wait::kEverything);
    return true;
  }
  const bool by_values = thread.mode == Mode::norec;
  norec::join(thread); // which may restart it, so before others know that it waits
  if (interest == 0)
    interest = by_values ? norec::interest(thread) : orec::interest(thread);
  wait::announce(thread, interest);
  if (thread.mode == Mode::two_phase)
    return true; // what it has read is locked
  return by_values ? norec::extend(thread) : orec::extend(thread);
}

// Begins an outermost transaction that has been undone, by any way that suits now.
Actions begin_again(Thread &thread) noexcept {
  if ((settings.special & kSpecialSerial) != 0 && __libc_single_threaded)
    return run_single(thread);
  if (settings.algorithm != Algorithm::serial)
    return run_speculatively_again(thread);
  acquire_serial(thread);
  return run_serially(thread, false);
}

} // namespace

void retry(Thread &thread, std::uint64_t interest, std::int64_t longest) noexcept {
  leave_hardware(thread);
  if (!revocable(thread))
    fatal("a transaction waits for a change after it became irrevocable, or where it cannot be "
          "undone");
  if (thread.mode == Mode::guarded_by)
    guarded_by::join(thread); // nothing says what it has read
  const bool current = announce_wait(thread, interest);
  const bool was_serial = is_serial(thread);
  if (is_profiled(thread)) [[unlikely]]
    profile::abort(thread, profile::Cause::retry);
  roll_back(thread);
  if (was_serial)
    leave_serial();
  ++thread.retried;
  forget_restarts(thread); // it sleeps: who wakes it must be able to begin
  if (current) {
    const profile::Waiting waiting(thread);
    wait::sleep(thread, longest);
  }
  wait::forget(thread);
  if (is_profiled(thread)) [[unlikely]]
    profile::again(thread);
  jump_to_begin(thread, begin_again(thread));
}

bool has_only_read(const Thread &thread) noexcept {
  return revocable(thread) && thread.undo.empty() && thread.writes.empty() &&
         !actions::pending(thread) && !(thread.mode == Mode::norec && norec::owns_clock(thread));
}

void give_way(Thread &thread, std::int64_t longest, void (*wait)(void *), void *argument) noexcept {
  if (thread.coloured)
    fatal("a section that holds its colours waits for a condition");
  wait::announce(thread, wait::kEverything);
  if (thread.guard_count != 0)
    guarded::clear_marks(thread);
  leave_serial();
  {
    const profile::Waiting waiting(thread);
    if (wait == nullptr)
      wait::sleep(thread, longest);
    else
      wait(argument);
  }
  wait::forget(thread);
  acquire_serial(thread);
}

void restart_after(Thread &thread, void (*wait)(void *), void *argument) noexcept {
  leave_hardware(thread);
  const bool was_serial = is_serial(thread);
  if (is_profiled(thread)) [[unlikely]]
    profile::abort(thread, profile::Cause::locked);
  roll_back(thread);
  if (was_serial)
    leave_serial();
  if ((settings.special & kSpecialHourglass) != 0)
    hourglass::open(thread); // who it waits for may be waiting there
  {
    const profile::Waiting waiting(thread);
    wait(argument);
  }
  if (is_profiled(thread)) [[unlikely]]
    profile::again(thread);
  jump_to_begin(thread, begin_again(thread));
}

// Whether a transaction that has to become irrevocable begins again as that. One that the program
// may undo only runs serially, up to where it has to.
namespace {
bool irrevocable_again(const Thread &thread) noexcept {
  return (thread.properties & itm::kHasNoAbort) != 0;
}
} // namespace

void become_irrevocable(Thread &thread, profile::SerialCause cause) noexcept {
  leave_hardware(thread);
  if (thread.irrevocable)
    return;
  guarded_by::join(thread);
  if (is_profiled(thread)) [[unlikely]]
    profile::serialise(thread, cause);
  if (!is_serial(thread)) {
    norec::join(thread); // before it is serial
    if (guarded::takes_colours(thread)) {
      if (is_profiled(thread)) [[unlikely]]
        profile::abort(thread, profile::Cause::irrevocable_reached);
      guarded::restart_exclusively(thread);
    }
    // Who has made NOrec's clock odd must not wait for others: they may be waiting for it.
    const auto upgraded = [&] {
      const profile::Waiting waiting(thread);
      return try_upgrade(thread);
    };
    if ((thread.mode == Mode::norec && norec::owns_clock(thread)) || !upgraded()) {
      if (is_profiled(thread)) [[unlikely]]
        profile::abort(thread, profile::Cause::irrevocable_reached);
      restart_serially(thread, irrevocable_again(thread));
    }
    ++thread.serialised;
    if (!commit_in_place(thread)) {
      if (is_profiled(thread)) [[unlikely]] {
        profile::abort(thread, profile::Cause::validation);
        profile::again(thread);
      }
      roll_back(thread);
      jump_to_begin(thread, run_serially(thread, irrevocable_again(thread)));
    }
    thread.mark->store(0, std::memory_order_release);
    leave_shared();
    guarded_by::leave(thread); // nobody else is in a section
  }
  thread.undo.clear();
  thread.irrevocable = true;
  if (is_profiled(thread)) [[unlikely]]
    profile::irrevocable(thread);
  for (Checkpoint &checkpoint : thread.checkpoints) {
    checkpoint.revocable = false;
    checkpoint.mode = Mode::direct;
  }
  set_mode(thread, Mode::direct);
  library::became_irrevocable(thread);
}

std::uint64_t identity(const Thread &thread) noexcept {
  // Threads come from a pool, so the count goes on when another thread has the Thread.
  return thread.identity << 48 | (thread.transactions.load() + itm::kNoTransaction);
}

Thread &expect_transaction(const char *call) noexcept {
  Thread *thread = current_thread;
  if (thread == nullptr || thread->depth == 0) [[unlikely]]
    fatal("%s is called outside a transaction", call);
  return *thread;
}

} // namespace tandem::transaction
