// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/transaction/hardware.h"

#include "runtime/algorithms/automatic.h"
#include "runtime/sync/futex.h"
#include "runtime/transaction/steps.h"
#include "runtime/wait/wait.h"

namespace tandem::transaction {
namespace {

using hardware::Code;
using hardware::Next;

// The loser of a conflict begins again at once: most of what it met has ended by then, since the
// abort alone takes as long as a short transaction. Who loses again waits, and at first for as long
// as for the sixth of its waits by software: whoever waits for some of the other's transactions
// lets them run without a conflict (docs/design/0061).
constexpr std::uint32_t kWaitsFrom = 2; // attempts that have been undone
constexpr std::uint32_t kFirstBackOff = 5;

// The end of the program's transaction is an abort of the processor's.
[[noreturn]] inline void unreachable() noexcept {
  fatal("a hardware transaction goes on after it was aborted");
}

profile::Cause cause_of(std::uint32_t status) noexcept {
  if ((status & hardware::kExplicit) != 0)
    switch (hardware::code_of(status)) {
    case Code::serial:
      return profile::Cause::serial_pending;
    case Code::colour:
      return profile::Cause::colour_taken;
    case Code::cancel:
      return profile::Cause::cancel;
    case Code::writing:
    case Code::beside:
      return profile::Cause::hardware_conflict;
    case Code::leave:
      return profile::Cause::hardware_other;
    }
  if ((status & hardware::kCapacity) != 0)
    return profile::Cause::hardware_capacity;
  return (status & hardware::kConflict) != 0 ? profile::Cause::hardware_conflict
                                             : profile::Cause::hardware_other;
}

// The section's descriptor, or where its begin returns to.
std::uintptr_t present_place(const Thread &thread) noexcept {
  return thread.descriptor != nullptr ? reinterpret_cast<std::uintptr_t>(thread.descriptor)
                                      : thread.jump.target;
}

// The section does not fit the hardware: each time that this turns out again it is not tried for
// twice as many executions.
void give_up(Thread &thread) noexcept {
  constexpr unsigned kMostSkipped = 63;
  constexpr unsigned kFails = 15; // after four attempts, none of which did
  std::uint8_t &penalty = thread.hardware_penalty[thread.hardware_slot];
  thread.hardware_trouble += penalty == 0 ? 1 : 0;
  penalty = static_cast<std::uint8_t>(penalty >= kMostSkipped ? kMostSkipped : 2 * penalty + 1);
  thread.hardware_skip[thread.hardware_slot] = penalty;
  if (penalty >= kFails)
    automatic::look_soon(thread);
}

// It does, after all.
void forgive(Thread &thread, std::size_t slot) noexcept {
  thread.hardware_trouble -= thread.hardware_penalty[slot] != 0 ? 1 : 0;
  thread.hardware_penalty[slot] = 0;
  thread.hardware_fails = false;
}

void wait_until_open(Thread &thread) noexcept {
  const profile::Waiting waiting(thread);
  if (serial::taken())
    serial::wait_until_free();
  guarded::wait(thread);
  for (sync::Patience patience;
       hardware::in_use() && serial::word.writing.load(std::memory_order_acquire) != 0;)
    patience.round();
}

// What the cancelled attempt has read may be what the thread relies on now.
Actions end_cancelled(Thread &thread) noexcept {
  if (hardware::state.software.load(std::memory_order_acquire) != 0)
    sync::quiesce(clock_now() & ~std::uint64_t{1});
  forgive(thread, thread.hardware_slot); // it fits
  set_state(thread, 0);
  thread.guard_count = 0;
  thread.plan = nullptr;
  thread.descriptor = nullptr;
  forget_restarts(thread);
  ++thread.cancelled;
  return itm::kAbort; // the locals are as they were: nothing is to be restored
}

Actions continue_by_software(Thread &thread) noexcept {
  hardware::leave_foreign();
  // Counted, and ended by the general path.
  thread.depth = kSpecialDepth;
  return run_speculatively_again(thread);
}

// Inside, before anything of the program's: whoever is excluded must undo this one from now on.
[[gnu::always_inline]] inline void subscribe(const Thread &thread) noexcept {
  if (serial::taken())
    hardware::abort<Code::serial>();
  if (serial::word.writing.load(std::memory_order_relaxed) != 0)
    hardware::abort<Code::writing>();
  if (guarded::taken(thread))
    hardware::abort<Code::colour>();
}

// What follows an attempt, the `attempts`-th, that has been undone for `status`. 0: another one in
// hardware.
Actions after_abort(Thread &thread, std::uint32_t status, std::uint32_t attempts) noexcept {
  if (is_profiled(thread)) [[unlikely]]
    profile::abort(thread, cause_of(status));
  const Next next = hardware::decide(status, attempts);
  if (next == Next::cancelled)
    return end_cancelled(thread);
  ++thread.transactions;
  ++thread.undone;
  if (next == Next::wait)
    wait_until_open(thread);
  else if (next == Next::again && attempts >= kWaitsFrom)
    back_off(thread, attempts - kWaitsFrom + kFirstBackOff);
  else if (next == Next::software &&
           ((status & hardware::kExplicit) == 0 || hardware::is(status, Code::leave)))
    give_up(thread);
  if (is_profiled(thread)) [[unlikely]]
    profile::again(thread);
  if (next != Next::software)
    return 0;
  return continue_by_software(thread);
}

Actions attempt(Thread &thread, std::uint32_t attempts) noexcept {
  const std::uint64_t state = state_of(Mode::hardware, thread.hardware_slot, thread.depth);
  thread.barriers = &direct_barriers;
  thread.hardware_extra = thread.depth == kSpecialDepth;
  for (;; ++attempts) {
    if (!hardware::in_use()) [[unlikely]] // `auto` has changed the algorithm
      return continue_by_software(thread);
    const bool plain = (thread.properties & itm::kUninstrumentedCode) != 0 &&
                       hardware::state.software.load(std::memory_order_relaxed) == 0;
    thread.hardware_plain = plain;
    set_state(thread, state);
    const std::uint32_t status = hardware::start(present_place(thread));
    if (status == hardware::kStarted) [[likely]] {
      subscribe(thread);
      if (thread.hardware_extra)
        hardware::start(0);
      return plain ? itm::kRunUninstrumented : itm::kRunInstrumented;
    }
    if (const Actions actions = after_abort(thread, status, attempts); actions != 0)
      return actions;
  }
}

} // namespace

Actions begin_in_hardware(Thread &thread) noexcept {
  // From a begin by software, when `auto` changed the algorithm.
  thread.mark->store(0, std::memory_order_release);
  if ((settings.special & kSpecialHourglass) != 0) [[unlikely]]
    hourglass::pass(thread);
  thread.irrevocable = false;
  const std::size_t slot = slot_of(present_place(thread));
  thread.hardware_slot = static_cast<std::uint8_t>(slot);
  if (thread.hardware_skip[slot] != 0) [[unlikely]] {
    --thread.hardware_skip[slot];
    return continue_by_software(thread);
  }
  return attempt(thread, 1);
}

Actions begin_again_in_hardware(Thread &thread, std::uint32_t status) noexcept {
  thread.irrevocable = false;
  thread.hardware_slot = static_cast<std::uint8_t>(slot_of(present_place(thread)));
  const Actions actions = after_abort(thread, status, 1);
  return actions != 0 ? actions : attempt(thread, 2);
}

void act_after_hardware(Thread &thread, std::size_t slot) noexcept {
  forgive(thread, slot);
  if (wait::anybody())
    wait::notify(wait::kEverything); // it has logged nothing
  thread.fresh_bytes = 0;
  thread.throwing = false;
  actions::commit(thread);
}

void end_level(Thread &thread) noexcept {
  if (thread.depth == 1) {
    const std::size_t slot = thread.hardware_slot;
    set_state(thread, 0);
    thread.caught = 0;
    thread.descriptor = nullptr;
    act_after_hardware(thread, slot);
    return;
  }
  constexpr std::uint32_t kBit = kSpecialDepth - 1;
  if ((thread.depth & ~kBit) != 1) {
    --thread.depth;
    return;
  }
  thread.hardware_extra = false;
  commit(thread);
}

void commit_in_hardware(Thread &thread) noexcept {
  std::uint64_t time = 0;
  if (hardware::state.software.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    if (thread.hardware_plain)
      hardware::abort<Code::beside>();
    time = sync::global_clock.now.load(std::memory_order_relaxed) + 2;
    if ((time & 1) != 0)
      hardware::abort<Code::writing>();
    sync::global_clock.now.store(time, std::memory_order_relaxed);
  }
  if (thread.hardware_extra)
    hardware::end();
  hardware::end();
  forgive(thread, thread.hardware_slot);
  if (time != 0)
    sync::quiesce(time);
  if (wait::anybody()) [[unlikely]]
    wait::notify(wait::kEverything); // it has logged nothing
}

Actions begin_nested_in_hardware(Thread &thread, std::uint32_t properties) noexcept {
  // What is nested in uninstrumented code has no other one.
  const bool plain = thread.hardware_plain && (properties & itm::kUninstrumentedCode) != 0;
  if (!plain && (properties & itm::kInstrumentedCode) == 0)
    leave_hardware(thread);
  constexpr std::uint32_t kBit = kSpecialDepth - 1;
  if ((thread.depth & ~kBit) + (thread.hardware_extra ? 1 : 0) == hardware::kMostLevels)
    leave_hardware(thread);
  hardware::start(0);
  ++thread.depth;
  ++thread.transactions;
  ++thread.nested;
  return plain ? itm::kRunUninstrumented : itm::kRunInstrumented;
}

void cancel_in_hardware(const Thread &thread, bool outermost) noexcept {
  constexpr std::uint32_t kBit = kSpecialDepth - 1;
  const bool all = outermost || (thread.depth & ~kBit) == 1;
  if (all && (thread.properties & itm::kHasNoAbort) == 0) // else software says what is wrong
    hardware::abort<Code::cancel>();
  hardware::abort<Code::leave>();
  unreachable();
}

} // namespace tandem::transaction
