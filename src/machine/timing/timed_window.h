// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of timed_cores.h: cores with a window (window.h). Instructions run in program order when
// they enter, up to `issue_width` a cycle: ordinary loads and stores read and write memory then,
// which is one order for all harts, and their traffic follows when their addresses are there.
// Atomic accesses, fences, control registers, devices, system calls and everything while there are
// transactions (serializing instructions) wait for the window to be empty and then run as on a core
// without one. So memory is sequentially consistent. A fault of an access or a fetch that S handles
// is taken when its instruction would enter, and what follows it waits; interrupts are taken
// whatever is in the window.
//
// Branches are predicted perfectly, fetches and walks of the page tables stop the entry, and not
// what is in the window.
#pragma once

#include "machine/timing/timed_cores.h"

#include <bit>

namespace tandem::machine::timing {

namespace window {

constexpr bool divides(Opcode opcode) {
  switch (opcode) {
  case Opcode::div:
  case Opcode::divu:
  case Opcode::rem:
  case Opcode::remu:
  case Opcode::divw:
  case Opcode::divuw:
  case Opcode::remw:
  case Opcode::remuw:
  case Opcode::fdiv_s:
  case Opcode::fdiv_d:
  case Opcode::fsqrt_s:
  case Opcode::fsqrt_d:
    return true;
  default:
    return false;
  }
}

// Of an instruction that is no access to memory.
inline Cycle latency_of(const OpcodeRow &row, const HartConfiguration &hart) {
  switch (row.extension) {
  case Extension::m:
    return divides(row.opcode) ? hart.divide_cycles : hart.multiply_cycles;
  case Extension::f:
  case Extension::d:
    return divides(row.opcode) ? hart.float_divide_cycles : hart.float_cycles;
  default:
    return 1;
  }
}

constexpr Unit unit_of(const OpcodeRow &row) {
  if (row.access == AccessClass::load || row.access == AccessClass::store)
    return Unit::memory;
  return row.extension == Extension::f || row.extension == Extension::d ? Unit::floating
                                                                        : Unit::integer;
}

constexpr bool is_serializing(AccessClass access) {
  return access != AccessClass::none && access != AccessClass::load && access != AccessClass::store;
}

} // namespace window

template <class P> void CoresOf<P>::begin_cores() {
  cores_.assign(harts_.size(), Core{});
  const Configuration &machine = options_.configuration;
  const HartConfiguration &hart = machine.hart;
  for (Window &window : windows_)
    window = Window({.instructions = machine.core.window,
                     .outstanding = machine.core.outstanding,
                     .units = {hart.integer_units, hart.float_units, hart.memory_units},
                     .forward = machine.l1d.latency});
}

template <class P> auto CoresOf<P>::decoded(std::uint32_t word) -> const Decoded & {
  Decoded &kept = decoded_[(word * 0x9e37'79b1U) >> (32 - std::countr_zero(kDecoded))];
  if (kept.word == word)
    return kept;
  kept = {.word = word};
  const Instruction instruction = decode(word);
  if (instruction.opcode == Opcode::illegal)
    return kept;
  const OpcodeRow &row = row_of(instruction.opcode);
  kept.serializing = window::is_serializing(row.access);
  kept.integer_only = row.extension != Extension::f && row.extension != Extension::d;
  kept.shape.operands = operands_of(instruction);
  kept.shape.unit = window::unit_of(row);
  kept.shape.latency = window::latency_of(row, options_.configuration.hart);
  return kept;
}

// A cycle of the hart: what enters, until something stops it. A run that ends within the cycle
// leaves it to the next one.
template <class P> void CoresOf<P>::enter_window(unsigned number) {
  Core &core = cores_[number];
  Window &window = windows_[number];
  const unsigned width = options_.configuration.core.issue_width;
  if (core.entered == 0)
    core.entered_as = running(number);
  window.retire(core.clock);
  bool over = false;
  bool stalls = false;
  while (!over && core.entered < width && left_ > 0) {
    const bool serializing = core.serializing || in_order(number);
    stalls = serializing ? !window.empty() : window.full();
    if (stalls || (serializing && core.entered > 0)) {
      over = true;
    } else if (serializing) {
      core.serializing = false;
      return burst(number);
    } else if (enter_one(number)) {
      ++core.entered;
    } else {
      over = core.want != Want::nothing;
    }
  }
  core.pc = harts_[number].state().pc;
  if (over || core.entered == width)
    end_cycle(number);
  if (stalls)
    stall(number);
}

// If anything has entered in it.
template <class P> void CoresOf<P>::end_cycle(unsigned number) {
  Core &core = cores_[number];
  if (core.entered == 0)
    return;
  core.entered = 0;
  ++cycles_[number].busy;
  count_system(number, 1);
  spend(number, core.entered_as, core.clock, core.clock + 1);
  ++core.clock;
}

// False: the instruction has not run; it wants a line of code or an entry of a page table, or is
// serializing.
template <class P> bool CoresOf<P>::enter_one(unsigned number) {
  Core &core = cores_[number];
  Hart &hart = harts_[number];
  HartTiming &timing = hart.timing();
  clock_.now = core.clock;
  const std::optional<std::uint32_t> word = hart.next_word();
  const Decoded *next = word ? &decoded(*word) : nullptr;
  if (next == nullptr || next->serializing) {
    if (next == nullptr && timing.want != Want::nothing)
      wants(number);
    else
      core.serializing = true;
    return false;
  }
  const std::uint64_t pc = hart.state().pc;
  const std::uint64_t retired = hart.state().instret;
  timing.records = true;
  timing.recorded = 0;
  timing.integer_only = next->integer_only;
  const Ran ran = hart.run_timed(1);
  timing.records = timing.integer_only = false;
  if (ran.cycles == 0) {
    const bool goes_on =
        ran.stop == Stop::wants && (timing.want == Want::fetch || timing.want == Want::walk ||
                                    timing.want == Want::walk_update);
    if (goes_on)
      wants(number);
    else
      core.serializing = true;
    return false;
  }
  count_instruction();
  ++cycles_[number].instructions;
  if (hart.state().instret == retired)
    core.serializing = true; // it has trapped: what follows waits for what was before it
  else
    enters(number, next->shape, pc);
  return true;
}

template <class P> void CoresOf<P>::wants(unsigned number) {
  Core &core = cores_[number];
  core.want = harts_[number].timing().want;
  core.line = harts_[number].timing().wanted;
}

// The instruction that has just run. A store that the protocol does not know of yet ends the
// reservations of others.
template <class P> void CoresOf<P>::enters(unsigned number, Entering entering, std::uint64_t pc) {
  static_assert(kReservationBytes == kLineBytes, "a reservation is of a line");
  Core &core = cores_[number];
  HartTiming &timing = harts_[number].timing();
  entering.lines = timing.recorded;
  if (entering.lines > 0) {
    const Touched touched = last_touched(harts_[number]);
    entering.line = timing.recorded_lines;
    entering.store = timing.recorded_store;
    entering.bytes = touched.bytes;
    entering.address = touched.address;
    entering.pc = pc;
  }
  for (unsigned part = 0; entering.store && part < entering.lines; ++part)
    for (unsigned other = 0; other < harts_.size(); ++other)
      if (other != number && harts_[other].state().reservation == entering.line[part])
        harts_[other].break_reservation();
  if (windows_[number].enter(core.clock, entering))
    ++timing.loads; // it looks into the L1 at the same time
  arm_window(number, core.clock);
}

template <class P> void CoresOf<P>::arm_window(unsigned number, Cycle at) {
  arm_at(cores_[number], std::max(windows_[number].next_send(), at));
}

// Nothing enters from the core's clock on until the oldest is done.
template <class P> void CoresOf<P>::stall(unsigned number) {
  Core &core = cores_[number];
  core.since = core.clock;
  core.state = State::draining;
  oldest_known(number);
}

template <class P> void CoresOf<P>::oldest_known(unsigned number) {
  Core &core = cores_[number];
  if (core.state != State::draining || windows_[number].oldest().done == kNever)
    return;
  const Window::Instruction &oldest = windows_[number].oldest();
  const Cycle until = std::max(oldest.done, core.since);
  const Cycle waited = until - core.since;
  const bool accesses = oldest.what.lines > 0;
  HartCycles &cycles = cycles_[number];
  (!accesses ? cycles.busy : oldest.what.store ? cycles.stores : cycles.loads) += waited;
  count_system(number, waited);
  spend(number,
        !accesses           ? running(number)
        : oldest.what.store ? Spent::store
                            : Spent::load,
        core.since, until);
  if (timeline_ && accesses && waited > 0)
    timeline_->missed(number, {.line = oldest.what.line[0],
                               .virtual_ = oldest.what.address,
                               .bytes = oldest.what.bytes,
                               .pc = oldest.what.pc,
                               .writes = oldest.what.store,
                               .waited = waited});
  core.clock = until;
  core.state = harts_[number].awake() ? State::ready : State::idle;
}

template <class P> void CoresOf<P>::send_window(unsigned number) {
  Core &core = cores_[number];
  Window &window = windows_[number];
  const Cycle at = std::exchange(core.drain_at, kNever);
  if (at > system_.now())
    system_.skip_to(at);
  while (const std::optional<Window::Send> send = window.take_send(at)) {
    const RequestKind kind = send->store ? RequestKind::store : RequestKind::load;
    accesses_ = true;
    const Outcome outcome = system_.access(number, {send->line, kind, kWindowTag | send->slot});
    accesses_ = false;
    if (outcome.hit)
      window.answered(send->slot, at + outcome.done.latency, false);
    else
      window.misses();
  }
  arm_window(number, at);
  oldest_known(number);
}

template <class P> void CoresOf<P>::answered(unsigned number, const Completion &done) {
  windows_[number].answered(done.tag & ~kWindowTag, system_.now(), true);
  arm_window(number, system_.now());
  oldest_known(number);
}

// When no access is under way any more: what is in the windows is done, and the harts wait for it.
template <class P> void CoresOf<P>::empty_windows() {
  for (unsigned number = 0; number < windows_.size(); ++number) {
    Core &core = cores_[number];
    Window &window = windows_[number];
    for (window.retire(core.clock); !window.empty(); window.retire(core.clock)) {
      stall(number);
      CHECK(core.state != State::draining, "hart {} waits for nothing", number);
    }
  }
}

} // namespace tandem::machine::timing
