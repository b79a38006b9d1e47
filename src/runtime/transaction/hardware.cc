// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/transaction/hardware.h"

#include "runtime/sync/futex.h"
#include "runtime/transaction/steps.h"
#include "runtime/wait/wait.h"

namespace tandem::transaction {
namespace {

using hardware::Code;
using hardware::Next;

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

// Where the section's history is: sections that share a place only disturb one another's guesses.
std::size_t slot_of(const Thread &thread) noexcept {
  const std::uint64_t section = thread.descriptor != nullptr
                                    ? reinterpret_cast<std::uintptr_t>(thread.descriptor)
                                    : thread.jump.target;
  return (section * 0x9e3779b97f4a7c15U) >> 58;
}
static_assert(std::size_t{1} << (64 - 58) == kHardwareSlots);

// The section does not fit the hardware: each time that this turns out again it is not tried for
// twice as many executions.
void give_up(Thread &thread) noexcept {
  constexpr unsigned kMostSkipped = 63;
  std::uint8_t &penalty = thread.hardware_penalty[thread.hardware_slot];
  penalty = static_cast<std::uint8_t>(penalty >= kMostSkipped ? kMostSkipped : 2 * penalty + 1);
  thread.hardware_skip[thread.hardware_slot] = penalty;
}

void wait_until_open(Thread &thread) noexcept {
  const profile::Waiting waiting(thread);
  if (serial::taken())
    serial::wait_until_free();
  guarded::wait(thread);
  for (sync::Patience patience; hardware::state.writing.load(std::memory_order_acquire) != 0;)
    patience.round();
}

// What the cancelled attempt has read may be what the thread relies on now.
Actions end_cancelled(Thread &thread) noexcept {
  if (hardware::state.software.load(std::memory_order_acquire) != 0)
    sync::quiesce(clock_now() & ~std::uint64_t{1});
  thread.depth = 0;
  thread.guard_count = 0;
  thread.plan = nullptr;
  thread.descriptor = nullptr;
  forget_restarts(thread);
  ++thread.cancelled;
  return itm::kAbort; // the locals are as they were: nothing is to be restored
}

Actions continue_by_software(Thread &thread) noexcept {
  // Counted, and ended by the general path.
  thread.depth = kSpecialDepth;
  return run_speculatively_again(thread);
}

// Inside, before anything of the program's: whoever is excluded must undo this one from now on.
[[gnu::always_inline]] inline void subscribe(const Thread &thread) noexcept {
  if (serial::taken())
    hardware::abort<Code::serial>();
  if (hardware::state.writing.load(std::memory_order_relaxed) != 0)
    hardware::abort<Code::writing>();
  if (guarded::taken(thread))
    hardware::abort<Code::colour>();
}

} // namespace

Actions begin_in_hardware(Thread &thread) noexcept {
  if ((settings.special & kSpecialHourglass) != 0) [[unlikely]]
    hourglass::pass(thread);
  thread.irrevocable = false;
  const std::size_t slot = slot_of(thread);
  thread.hardware_slot = static_cast<std::uint8_t>(slot);
  if (thread.hardware_skip[slot] != 0) [[unlikely]] {
    --thread.hardware_skip[slot];
    return continue_by_software(thread);
  }
  for (std::uint32_t attempts = 1;; ++attempts) {
    const bool plain = (thread.properties & itm::kUninstrumentedCode) != 0 &&
                       hardware::state.software.load(std::memory_order_relaxed) == 0;
    const std::uint32_t status = hardware::start();
    if (status == hardware::kStarted) [[likely]] {
      subscribe(thread);
      thread.mode = Mode::hardware;
      thread.barriers = &direct_barriers;
      thread.hardware_plain = plain;
      return plain ? itm::kRunUninstrumented : itm::kRunInstrumented;
    }
    if (thread.profile != nullptr) [[unlikely]]
      profile::abort(thread, cause_of(status));
    const Next next = hardware::decide(status, attempts);
    if (next == Next::cancelled)
      return end_cancelled(thread);
    ++thread.transactions;
    ++thread.undone;
    if (next == Next::wait)
      wait_until_open(thread);
    else if (next == Next::again)
      back_off(thread, attempts - 1);
    else if ((status & hardware::kExplicit) == 0 || hardware::is(status, Code::leave))
      give_up(thread);
    if (thread.profile != nullptr) [[unlikely]]
      profile::again(thread);
    if (next == Next::software)
      return continue_by_software(thread);
  }
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
  hardware::end();
  if (thread.hardware_penalty[thread.hardware_slot] != 0) [[unlikely]]
    thread.hardware_penalty[thread.hardware_slot] = 0;
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
