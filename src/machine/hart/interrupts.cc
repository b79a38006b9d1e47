// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interrupts and traps: what is pending, what is taken, how a handler is entered and left.
//
// Source: RISC-V privileged manual, sstatus, sip, stvec, SRET; medeleg and mideleg for machine
// mode.
#include "machine/hart/core.h"
#include "machine/htm/transactional_memory.h"
#include "machine/isa/csr.h"

namespace tandem::machine {

std::uint64_t HartCore::pending() const {
  std::uint64_t now = state.ip;
  const bool sstc = !machine_mode || (state.m.envcfg >> 63) != 0;
  if (sstc) {
    now &= ~bit(Interrupt::supervisor_timer);
    if (clock->ticks() >= state.stimecmp)
      now |= bit(Interrupt::supervisor_timer);
  }
  return now;
}

std::uint64_t HartCore::due() const {
  const std::uint64_t enabled = pending() & state.ie;
  if (enabled == 0)
    return 0;
  const bool in_machine = state.privilege == Privilege::machine;
  const std::uint64_t delegated = machine_mode ? state.m.ideleg : ~std::uint64_t{0};
  if (const std::uint64_t own = enabled & ~delegated;
      own != 0 && (!in_machine || (state.status & status::kMie) != 0))
    return own;
  const bool taken =
      state.privilege == Privilege::user ||
      (state.privilege == Privilege::supervisor && (state.status & status::kSie) != 0);
  return taken ? enabled & delegated : 0;
}

void HartCore::take_interrupt() {
  constexpr Interrupt kOrder[] = {Interrupt::machine_external,    Interrupt::machine_software,
                                  Interrupt::machine_timer,       Interrupt::supervisor_external,
                                  Interrupt::supervisor_software, Interrupt::supervisor_timer};
  const std::uint64_t now = due();
  for (const Interrupt cause : kOrder) {
    if ((now & bit(cause)) == 0)
      continue;
    const bool to_machine = machine_mode && (state.m.ideleg & bit(cause)) == 0;
    enter(kInterruptBit | unsigned(cause), 0, to_machine);
    return;
  }
}

void HartCore::take(const Trap &cause) {
  const bool to_machine = machine_mode && (state.privilege == Privilege::machine ||
                                           (state.m.edeleg & bit(cause.cause)) == 0);
  enter(unsigned(cause.cause), cause.value, to_machine);
}

void HartCore::enter(std::uint64_t cause, std::uint64_t value, bool to_machine) {
  HartState &s = state;
  s.reservation = kNoReservation;
  leave_for_trap(to_machine, cause);
  const std::uint64_t vector = to_machine ? s.m.tvec : s.stvec;
  const std::uint64_t from = std::uint64_t(s.privilege);
  if (to_machine) {
    s.m.epc = s.pc;
    s.m.cause = cause;
    s.m.tval = value;
    const std::uint64_t enabled = (s.status & status::kMie) != 0 ? status::kMpie : 0;
    s.status &= ~(status::kMpie | status::kMie | status::kMpp);
    s.status |= enabled | from << status::kMppShift;
    s.privilege = Privilege::machine;
  } else {
    s.sepc = s.pc;
    s.scause = cause;
    s.stval = value;
    const std::uint64_t enabled = (s.status & status::kSie) != 0 ? status::kSpie : 0;
    s.status &= ~(status::kSpie | status::kSie | status::kSpp);
    s.status |= enabled | (from != 0 ? status::kSpp : 0);
    s.privilege = Privilege::supervisor;
  }
  const bool vectored = (vector & 1) != 0 && (cause & kInterruptBit) != 0;
  s.pc = (vector & ~std::uint64_t{3}) + (vectored ? 4 * (cause & ~kInterruptBit) : 0);
  update_contexts();
}

bool HartCore::return_from(bool machine) {
  HartState &s = state;
  const bool trapped = s.privilege == Privilege::supervisor && (s.status & status::kTsr) != 0;
  if (machine ? s.privilege != Privilege::machine : s.privilege == Privilege::user || trapped)
    return false;
  Privilege to = Privilege::user;
  const std::uint64_t resumes = machine ? 0 : s.stxh;
  if (!machine && has_transaction())
    return broke("sret inside a transaction");
  if (resumes != 0 && (s.status & status::kSpp) == 0)
    return broke("sret to U with a handle in stxh");
  if (resumes != 0 && !htm->resumable(resumes, false))
    return broke("sret with a handle in stxh that no suspended transaction has");
  if (!trapped_from.empty())
    trapped_from.pop_back();
  if (machine) {
    to = Privilege((s.status & status::kMpp) >> status::kMppShift);
    const std::uint64_t enabled = (s.status & status::kMpie) != 0 ? status::kMie : 0;
    s.status &= ~(status::kMie | status::kMpp);
    s.status |= enabled | status::kMpie;
    s.pc = s.m.epc;
  } else {
    to = (s.status & status::kSpp) != 0 ? Privilege::supervisor : Privilege::user;
    const std::uint64_t enabled = (s.status & status::kSpie) != 0 ? status::kSie : 0;
    s.status &= ~(status::kSie | status::kSpp);
    s.status |= enabled | status::kSpie;
    s.pc = s.sepc;
  }
  if (to != Privilege::machine)
    s.status &= ~status::kMprv;
  if (s.privilege != to && timing.lines != nullptr)
    end_burst(); // cycles are counted by privilege
  s.privilege = to;
  update_contexts();
  if (resumes != 0) {
    s.stxh = 0;
    if (!resume_transaction(resumes))
      end_burst(); // what it waits for is seen between bursts
  }
  if (interrupt_due())
    end_burst();
  return true;
}

} // namespace tandem::machine
