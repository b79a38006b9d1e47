// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/transaction/guarded.h"

#include "runtime/algorithms/automatic.h"
#include "runtime/algorithms/norec.h"
#include "runtime/transaction/steps.h"

namespace tandem::guarded {
namespace {

using colours::Plan;
using transaction::code_path;
using transaction::is_serial;

// Once per thread, before its first mark. seq_cst: whoever does not see the new end has acquired
// its colours before this, and the thread sees that after its mark.
void make_room(const Thread &thread) noexcept {
  std::atomic<std::size_t> &end = _TANDEM_colours_shared.marks_end;
  std::size_t seen = end.load();
  while (seen <= thread.identity && !end.compare_exchange_weak(seen, thread.identity + 1)) {
  }
}

// The thread holds colours exclusively.
void become_coloured(Thread &thread) noexcept {
  thread.depth = kSpecialDepth;
  thread.coloured = true;
  thread.owns_colours = true;
  thread.irrevocable = true;
  thread.guard_count = 0;
  transaction::set_mode(thread, Mode::direct);
}

void count_begin(Thread &thread, std::uint32_t properties, const tandem_section &section) noexcept {
  thread.depth = kSpecialDepth;
  thread.hardware_ready = kNotReady;
  thread.properties = properties;
  thread.descriptor = &section;
  ++thread.transactions;
  if (thread.uncaught != nullptr)
    thread.uncaught_before = *thread.uncaught;
  if (has_counters(thread) && profile::is_measured_next(thread)) [[unlikely]]
    profile::begin(thread);
}

Actions begin_exclusively(Thread &thread, const Plan &plan) noexcept {
  hardware::leave_foreign();
  if (is_profiled(thread)) [[unlikely]] {
    profile::serialise(thread, profile::SerialCause::irrevocable_begin);
    profile::irrevocable(thread);
  }
  _TANDEM_colours_take(&plan);
  become_coloured(thread);
  return code_path(thread, thread.properties);
}

// A section of an output that was loaded inside a section of the same thread: that one's colours
// are held to its end.
Actions begin_inside(Thread &thread) noexcept {
  thread.guard_count = 0;
  become_coloured(thread);
  thread.owns_colours = false;
  return code_path(thread, thread.properties);
}

bool covers(const Plan &outer, const Plan &inner) noexcept {
  for (std::uint32_t i = 0; i < inner.guard_count; ++i) {
    bool found = false;
    for (std::uint32_t j = 0; j < outer.guard_count && !found; ++j)
      found = outer.guard[j] == inner.guard[i];
    if (!found)
      return false;
  }
  return true;
}

// The transaction is guarded from now on, if it was not.
void add_guard(Thread &thread, const Plan &plan) noexcept {
  if (thread.guard_count == colours::kSlots)
    fatal(
        "sections of more than %zu outputs nest in one transaction; the innermost is '%s' (%s:%u)",
        colours::kSlots, plan.section->name, plan.section->file, plan.section->line);
  if (thread.guard_count == 0) {
    make_room(thread);
    constexpr std::uint32_t kBit = kSpecialDepth - 1;
    thread.depth |= kBit;
    for (Checkpoint &checkpoint : thread.checkpoints)
      checkpoint.depth |= kBit;
  }
  thread.guards[thread.guard_count++] = &plan;
}

// --- sections that are entered by _TANDEM_colours_enter

bool prepare_enter(const Plan &plan) {
  Thread &thread = this_thread();
  if (thread.depth == 0) {
    // So that what it waits for is counted for this section.
    count_begin(thread, itm::kUninstrumentedCode | itm::kInstrumentedCode | itm::kHasNoAbort,
                *plan.section);
    return true;
  }
  transaction::become_irrevocable(thread, profile::SerialCause::irrevocable_call);
  return false;
}

bool try_serial() {
  Thread &thread = this_thread();
  thread.serial_too = serial::try_upgrade(thread);
  return thread.serial_too;
}

void wait_serial() { serial::wait_until_free(); }

void entered(const Plan &) {
  Thread &thread = *current_thread;
  thread.plan = nullptr;
  become_coloured(thread);
  if (is_profiled(thread)) [[unlikely]] {
    profile::serialise(thread, profile::SerialCause::irrevocable_begin);
    profile::irrevocable(thread);
  }
}

void leave_entered(const Plan &plan) {
  Thread &thread = *current_thread;
  if (thread.depth != kSpecialDepth || !thread.coloured)
    fatal("the atomic section '%s' (%s:%u) is left inside a transaction that began in it",
          plan.section->name, plan.section->file, plan.section->line);
  transaction::commit(thread);
}

std::size_t identity() {
  return current_thread == nullptr ? colours::kNoMark : current_thread->identity;
}

void waits(const colours::Colour &colour) {
  if (current_thread != nullptr && is_profiled(*current_thread))
    profile::wait_for_colour(*current_thread, colour.name);
}
void waited() {
  if (current_thread != nullptr && is_profiled(*current_thread))
    profile::stop_waiting(*current_thread);
}

constexpr colours::Engine kEngine = {prepare_enter, try_serial, wait_serial, entered,
                                     leave_entered, identity,   waits,       waited};

} // namespace

void attach() noexcept { _TANDEM_colours_shared.engine.store(&kEngine, std::memory_order_release); }

void wait(const Thread &thread) noexcept {
  for (std::uint32_t slot = 0; slot < thread.guard_count; ++slot)
    _TANDEM_colours_wait(thread.guards[slot]);
}

Actions begin(Thread &thread, std::uint32_t properties, const tandem_section &section) noexcept {
  const Plan &plan = colours::plan_of(section);
  if (plan.guard_count == 0) {
    thread.descriptor = &section;
    return transaction::tandem_begin_outermost(properties, &thread, hardware::kStarted);
  }
  count_begin(thread, properties, section);
  if (colours::depth() != 0) [[unlikely]]
    return begin_inside(thread);
  if ((settings.special & kSpecialAdapt) != 0 && automatic::due(thread)) [[unlikely]]
    automatic::look(thread, &section, false); // it may be one that takes its colours
  make_room(thread);
  thread.plan = &plan;
  thread.guards[0] = &plan;
  thread.guard_count = 1;
  if ((settings.special & kSpecialSerial) != 0 && __libc_single_threaded) {
    set_marks(thread); // for threads that the transaction itself creates
    return transaction::run_single(thread);
  }
  const bool irrevocable =
      (properties & (itm::kDoesGoIrrevocable | itm::kInstrumentedCode)) != itm::kInstrumentedCode;
  if (irrevocable && takes_colours(thread))
    return begin_exclusively(thread, plan);
  if (settings.algorithm != Algorithm::serial && !irrevocable)
    return transaction::begin_speculatively<true>(thread);
  if (is_profiled(thread)) [[unlikely]]
    profile::serialise(thread, irrevocable ? profile::SerialCause::irrevocable_begin
                                           : profile::SerialCause::algorithm);
  transaction::acquire_serial(thread);
  return transaction::run_serially(thread, irrevocable);
}

void adopt(Thread &thread, const tandem_section &section) noexcept {
  if (thread.coloured)
    return; // its colours cover what it calls
  const Plan &plan = colours::plan_of(section);
  if (thread.mode == Mode::hardware) { // whoever takes one of them from now on undoes it
    if (colours::guard_taken(plan))
      transaction::leave_hardware(thread);
    return;
  }
  for (std::uint32_t slot = 0; slot < thread.guard_count; ++slot)
    if (thread.guards[slot] == &plan || covers(*thread.guards[slot], plan))
      return;
  if (plan.guard_count == 0)
    return;
  norec::join(thread);
  add_guard(thread, plan);
  const std::uint32_t slot = thread.guard_count - 1;
  const auto share = [&] {
    colours::set_mark(thread.identity, slot, &plan);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // What this thread holds it may share as well.
    return !colours::guard_taken(plan) || !_TANDEM_colours_others_hold(&plan);
  };
  if (share()) [[likely]]
    return;
  if (!is_serial(thread)) // it begins again with all of its guards
    transaction::restart(thread, transaction::Reason::colour);
  const colours::Entering entering(thread.identity);
  do {
    _TANDEM_colours_shared.marks[thread.identity].held[slot].store(nullptr,
                                                                   std::memory_order_release);
    _TANDEM_colours_wake();
    _TANDEM_colours_wait(&plan);
  } while (!share());
}

void restart_exclusively(Thread &thread) noexcept {
  transaction::roll_back(thread);
  ++thread.serialised;
  const Plan &plan = *thread.plan;
  {
    const profile::Waiting waiting(thread);
    _TANDEM_colours_take(&plan);
  }
  become_coloured(thread);
  if (is_profiled(thread)) [[unlikely]] {
    profile::again(thread);
    profile::irrevocable(thread);
  }
  transaction::jump_to_begin(thread, code_path(thread, thread.properties));
}

void acquire_serial(Thread &thread) noexcept {
  for (;;) {
    set_marks(thread);
    // A locked instruction, also where it fails.
    if (serial::try_word()) {
      if (!taken(thread))
        break;
      serial::release();
    }
    clear_marks(thread);
    wait(thread);
    serial::wait_until_free();
  }
  serial::wait_for_all(&thread);
}

void exclude_transactions(Thread &thread) noexcept {
  if (thread.serial_too)
    return;
  const profile::Waiting waiting(thread);
  serial::acquire(&thread);
  thread.serial_too = true;
}

void leave(Thread &thread) noexcept {
  if (thread.coloured) {
    if (thread.serial_too)
      serial::release();
    thread.serial_too = false;
    thread.coloured = false;
    if (thread.owns_colours)
      _TANDEM_colours_release();
    return;
  }
  clear_marks(thread);
  thread.guard_count = 0;
}

} // namespace tandem::guarded
