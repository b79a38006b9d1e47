// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transactions that the processor runs (algorithms/hardware.h): mode `hardware`. Their accesses are
// plain, and they keep no logs but of what is to be done after the commit: an abort restores all
// memory and registers to those of the begin, this library's with the program's.
//
// A nested one is a level of the processor's nesting, so that its end is that of any: XEND. The
// outermost one whose end is more than that (it is profiled, or shares colours) begins with two.
//
// What only software does (a cancel of a nested transaction, an undo action, waiting for a change,
// becoming irrevocable) leaves the hardware: the transaction begins again as one of NOrec, and
// stays that until it has ended. System calls and what else the processor refuses do the same.
#pragma once

#include "runtime/abi/itm.h"
#include "runtime/actions/actions.h"
#include "runtime/algorithms/barriers.h"
#include "runtime/algorithms/hardware.h"
#include "runtime/fatal.h"
#include "runtime/irrevocable/serial.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/transaction.h"
#include "runtime/wait/wait.h"

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace tandem::transaction {

// What a thread has from `mode` to `depth`: one load, one store.
constexpr std::uint64_t state_of(Mode mode, std::uint8_t slot, std::uint32_t depth) noexcept {
  return std::uint64_t{static_cast<std::uint8_t>(mode)} | std::uint64_t{slot} << 8 |
         std::uint64_t{depth} << 32;
}
static_assert(offsetof(Thread, hardware_slot) == offsetof(Thread, mode) + 1 &&
              offsetof(Thread, depth) == offsetof(Thread, mode) + 4 && sizeof(Mode) == 1);
[[gnu::always_inline]] inline std::uint64_t state(const Thread &thread) noexcept {
  std::uint64_t state = 0;
  std::memcpy(&state, reinterpret_cast<const char *>(&thread) + offsetof(Thread, mode),
              sizeof state);
  return state;
}
[[gnu::always_inline]] inline void set_state(Thread &thread, std::uint64_t state) noexcept {
  std::memcpy(reinterpret_cast<char *>(&thread) + offsetof(Thread, mode), &state, sizeof state);
}

// Where the section's history is: sections that share a place only disturb one another's guesses.
// `section`: its descriptor, or where its begin returns to.
constexpr std::size_t slot_of(std::uint64_t section) noexcept {
  static_assert(std::size_t{1} << (64 - 58) == kHardwareSlots);
  return (section * 0x9e37'79b9'7f4a'7c15U) >> 58;
}

// Whether the thread begins its first attempts in hardware at present, with all prepared for these
// properties, and none by software beside them.
[[gnu::always_inline]] inline bool begins_quickly(const Thread *thread,
                                                  std::uint32_t properties) noexcept {
  return thread != nullptr && thread->hardware_ready == properties && thread->depth == 0 &&
         hardware::state.software.load(std::memory_order_relaxed) == 0;
}

// Begins the first attempt of an outermost transaction, whose registers are not saved, where that
// needs nothing but the hardware. What it costs is the number of instructions, which do not overlap
// with XBEGIN as well as others do, and of lines that are written inside (docs/design/0056). 0: it
// has been undone for `status`. `place`: as hardware::start has it.
[[gnu::always_inline]] inline Actions begin_quickly(Thread &thread, std::uint32_t properties,
                                                    std::uintptr_t place, std::uint8_t slot,
                                                    std::uint32_t &status) noexcept {
  ++thread.transactions;
  set_state(thread, state_of(Mode::hardware, slot, 1)); // not inside: one line less there
  status = hardware::start(place);
  if (status != hardware::kStarted) [[unlikely]] {
    set_state(thread, 0);
    return 0;
  }
  if (serial::stops_hardware()) [[unlikely]]
    hardware::abort<hardware::Code::serial>();
  static_assert(itm::kRunInstrumented == 1 && itm::kRunUninstrumented == 2 &&
                itm::kUninstrumentedCode == 2);
  return 1 + (properties >> 1 & 1);
}

// Prepares the thread for that. `section`: as for slot_of. False: it is not outside, or the section
// is not to be run so. `slot` becomes another one if more is to be done at the end.
[[gnu::always_inline]] inline bool prepare_quickly(Thread &thread, std::uint32_t properties,
                                                   std::uint64_t section,
                                                   std::uint8_t &slot) noexcept {
  if (thread.depth != 0 || hardware::state.software.load(std::memory_order_relaxed) != 0 ||
      (properties & (itm::kDoesGoIrrevocable | itm::kInstrumentedCode)) != itm::kInstrumentedCode)
    return false;
  thread.hardware_ready = properties;
  if (thread.hardware_trouble != 0) [[unlikely]] {
    thread.hardware_ready = kNotReady;
    if (thread.hardware_penalty[slot_of(section)] != 0)
      return false;
    slot = kBusySlot; // its end forgives
  }
  thread.barriers = &direct_barriers;
  thread.properties = properties;
  thread.hardware_plain = (properties & itm::kUninstrumentedCode) != 0;
  thread.hardware_extra = false;
  return true;
}

// Begins the first attempt of an outermost transaction: in hardware, or if that fails by software.
// Guarded where the thread has guards.
[[gnu::noinline]] Actions begin_in_hardware(Thread &thread) noexcept;
// The second one; the first has been undone for `status`.
[[gnu::noinline]] Actions begin_again_in_hardware(Thread &thread, std::uint32_t status) noexcept;

// What may be left to do behind the end, and is not for most.
[[gnu::noinline]] void act_after_hardware(Thread &thread, std::size_t slot) noexcept;
// A level has ended that was not the outermost, or left something to be done.
[[gnu::noinline]] void end_level(Thread &thread) noexcept;

// Ends a level of a transaction that is in hardware; afterwards it may still be in a region of the
// program's own, which undoes all of this with itself. False, and nothing is done, where there is
// software beside it, or it is not in hardware: a region of the program's own, inside a transaction
// that is serial, is none of these. Inside, it does not look for the Thread, which
// would be waited for, nor at the stack, which would be one more line.
[[gnu::always_inline]] inline bool commit_hardware_quickly() noexcept {
  if (!hardware::inside() || serial::stops_hardware() ||
      hardware::state.software.load(std::memory_order_relaxed) != 0)
    return false;
  hardware::end();
  Thread &thread = *current_thread;
  const std::uint64_t inside = state(thread);
  if (inside != state_of(Mode::hardware, kNoSlot, 1)) [[unlikely]] {
    if (inside != state_of(Mode::hardware, kDescribedSlot, 1)) {
      end_level(thread);
      return true;
    }
    thread.descriptor = nullptr;
  }
  set_state(thread, 0);
  if (wait::anybody()) [[unlikely]]
    act_after_hardware(thread, kNoSlot);
  return true;
}

// Ends the outermost transaction, which is in mode hardware. Does not return if it cannot commit.
[[gnu::noinline]] void commit_in_hardware(Thread &thread) noexcept;

// A transaction begins where a signal has undone another one, whose state its handler sees.
inline void refuse_stale(const Thread &thread) noexcept {
  if (thread.mode == Mode::hardware && !hardware::inside()) [[unlikely]]
    fatal("a transaction begins in a signal's handler, which has interrupted another one");
}

// A nested transaction begins.
Actions begin_nested_in_hardware(Thread &thread, std::uint32_t properties) noexcept;

// Cancels the innermost transaction, or all.
[[noreturn]] void cancel_in_hardware(const Thread &thread, bool outermost) noexcept;

// For whatever only software does. Does not return where the transaction is in hardware.
[[gnu::always_inline]] inline void leave_hardware(const Thread &thread) noexcept {
  if (thread.mode == Mode::hardware) [[unlikely]]
    hardware::abort<hardware::Code::leave>();
}

} // namespace tandem::transaction
