// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What reads and writes of control and status registers do.
#include "machine/isa/csr.h"
#include "machine/hart/core.h"

namespace tandem::machine {

namespace {

bool is_float(unsigned number) { return number >= csr::fflags && number <= csr::fcsr; }
bool is_counter(unsigned number) { return number >= csr::cycle && number <= csr::instret; }

constexpr std::uint64_t kSupervisorInterrupts = bit(Interrupt::supervisor_software) |
                                                bit(Interrupt::supervisor_timer) |
                                                bit(Interrupt::supervisor_external);
constexpr std::uint64_t kTimeCounter = 2; // scounteren.TM

// misa: 64 bits; A, C, D, F, I, M, S, U.
constexpr std::uint64_t kMisa = std::uint64_t{2} << 62 | 1U << 0 | 1U << 2 | 1U << 3 | 1U << 5 |
                                1U << 8 | 1U << 12 | 1U << 18 | 1U << 20;

std::uint64_t with_dirty(std::uint64_t status) {
  return status | ((status & status::kFs) == status::kFs ? status::kSd : 0);
}

std::uint64_t merge(std::uint64_t old, std::uint64_t value, std::uint64_t writable) {
  return (old & ~writable) | (value & writable);
}

} // namespace

bool HartCore::csr_accessible(unsigned number, bool write) const {
  const Privilege least = csr_privilege(number);
  if (find_csr(number) == nullptr || (least == Privilege::machine && !machine_mode) ||
      state.privilege < least || (write && csr_read_only(number)))
    return false;
  const bool below_machine = machine_mode && state.privilege != Privilege::machine;
  if (is_float(number))
    return (state.status & status::kFs) != 0;
  if (is_counter(number)) {
    const std::uint64_t which = std::uint64_t{1} << (number - csr::cycle);
    return (!below_machine || (state.m.counteren & which) != 0) &&
           (state.privilege != Privilege::user || (state.scounteren & which) != 0);
  }
  if (number == csr::stimecmp && below_machine)
    return (state.m.envcfg >> 63) != 0 && (state.m.counteren & kTimeCounter) != 0;
  if (number == csr::satp)
    return state.privilege != Privilege::supervisor || (state.status & status::kTvm) == 0;
  return true;
}

std::uint64_t HartCore::read_csr(unsigned number) const {
  const HartState &s = state;
  const std::uint64_t delegated = machine_mode ? s.m.ideleg : kSupervisorInterrupts;
  const std::uint64_t flags =
      s.fflags | (float_ready && in_burst ? host_float::flags() : std::uint8_t{0});
  switch (number) {
  case csr::fflags:
    return flags;
  case csr::frm:
    return s.frm;
  case csr::fcsr:
    return flags | std::uint64_t{s.frm} << 5;
  case csr::cycle:
  case csr::mcycle:
    return clock->now;
  case csr::time:
    return clock->ticks();
  case csr::instret:
  case csr::minstret:
    return retired();
  case csr::sstatus:
    return with_dirty(s.status) & status::kSupervisor;
  case csr::sie:
    return s.ie & delegated;
  case csr::stvec:
    return s.stvec;
  case csr::scounteren:
    return s.scounteren;
  case csr::sscratch:
    return s.sscratch;
  case csr::sepc:
    return s.sepc;
  case csr::scause:
    return s.scause;
  case csr::stval:
    return s.stval;
  case csr::sip:
    return pending() & delegated;
  case csr::stimecmp:
    return s.stimecmp;
  case csr::stxh:
    return s.stxh;
  case csr::stxsp:
    return s.stxsp;
  case csr::stxlimit:
    return s.stxlimit;
  case csr::stxctl:
    return s.stxctl;
  case csr::stxstatus:
    return transaction_status();
  case csr::satp:
    return s.satp;
  case csr::mstatus:
    return with_dirty(s.status);
  case csr::misa:
    return kMisa;
  case csr::medeleg:
    return s.m.edeleg;
  case csr::mideleg:
    return s.m.ideleg;
  case csr::mie:
    return s.ie;
  case csr::mtvec:
    return s.m.tvec;
  case csr::mcounteren:
    return s.m.counteren;
  case csr::menvcfg:
    return s.m.envcfg;
  case csr::mscratch:
    return s.m.scratch;
  case csr::mepc:
    return s.m.epc;
  case csr::mcause:
    return s.m.cause;
  case csr::mtval:
    return s.m.tval;
  case csr::mip:
    return pending();
  case csr::pmpcfg0:
  case csr::pmpcfg2:
    return s.m.pmpcfg[(number - csr::pmpcfg0) / 2];
  case csr::mhartid:
    return id;
  default:
    if (number >= csr::pmpaddr0 && number <= csr::pmpaddr15)
      return s.m.pmpaddr[number - csr::pmpaddr0];
    return 0; // senvcfg, mvendorid, marchid, mimpid
  }
}

namespace {

void write_status(HartCore &h, std::uint64_t value, std::uint64_t writable) {
  HartState &s = h.state;
  const std::uint64_t old = s.status;
  s.status = merge(old, value, writable);
  if ((s.status & status::kMpp) == std::uint64_t{2} << status::kMppShift)
    s.status = merge(s.status, old, status::kMpp); // no such privilege
  const std::uint64_t changed = old ^ s.status;
  if ((changed & status::kFs) != 0)
    h.update_float();
  if ((changed & (status::kSum | status::kMxr | status::kMprv | status::kMpp)) != 0)
    h.update_contexts();
  if (h.interrupt_due())
    h.end_burst();
}

void write_float(HartCore &h, unsigned number, std::uint64_t value) {
  HartState &s = h.state;
  h.fold_flags(); // what has been raised before this
  if (number != csr::frm)
    s.fflags = value & 0x1f;
  if (number != csr::fflags)
    s.frm = (number == csr::fcsr ? value >> 5 : value) & 7;
  s.status |= status::kFs;
  h.update_float();
}

std::uint64_t vector_of(std::uint64_t old, std::uint64_t value) {
  return (value & 3) < 2 ? value : old;
}

} // namespace

void HartCore::write_csr(unsigned number, std::uint64_t value) {
  HartState &s = state;
  const std::uint64_t writable = find_csr(number)->writable;
  const std::uint64_t delegated = machine_mode ? s.m.ideleg : kSupervisorInterrupts;
  switch (number) {
  case csr::fflags:
  case csr::frm:
  case csr::fcsr:
    write_float(*this, number, value);
    return;
  case csr::sstatus:
  case csr::mstatus:
    write_status(*this, value, writable);
    return;
  case csr::sie:
    s.ie = merge(s.ie, value, writable & delegated);
    break;
  case csr::mie:
    s.ie = merge(s.ie, value, writable);
    break;
  case csr::sip:
    s.ip = merge(s.ip, value, writable & delegated);
    break;
  case csr::mip:
    s.ip = merge(s.ip, value, writable);
    break;
  case csr::stimecmp:
    s.stimecmp = value;
    break;
  case csr::satp:
    if (satp::mode(value) != satp::kBare && satp::mode(value) != satp::kSv39)
      return;
    s.satp = value;
    update_contexts();
    refetch = true;
    return;
  case csr::stvec:
    s.stvec = vector_of(s.stvec, value);
    return;
  case csr::stxh:
    s.stxh = value;
    return;
  case csr::stxsp:
    s.stxsp = value;
    return;
  case csr::stxlimit:
    s.stxlimit = value & writable;
    return;
  case csr::stxctl:
    s.stxctl = value & writable;
    update_release();
    return;
  case csr::scounteren:
    s.scounteren = value & writable;
    return;
  case csr::sscratch:
    s.sscratch = value;
    return;
  case csr::sepc:
    s.sepc = value & writable;
    return;
  case csr::scause:
    s.scause = value;
    return;
  case csr::stval:
    s.stval = value;
    return;
  case csr::minstret: // the next instruction reads what is written
    s.instret += value - retired() - 1;
    return;
  case csr::medeleg:
    s.m.edeleg = value & writable;
    return;
  case csr::mideleg:
    s.m.ideleg = value & writable;
    break;
  case csr::mtvec:
    s.m.tvec = vector_of(s.m.tvec, value);
    return;
  case csr::mcounteren:
    s.m.counteren = value & writable;
    return;
  case csr::menvcfg:
    s.m.envcfg = value & writable;
    break;
  case csr::mscratch:
    s.m.scratch = value;
    return;
  case csr::mepc:
    s.m.epc = value & writable;
    return;
  case csr::mcause:
    s.m.cause = value;
    return;
  case csr::mtval:
    s.m.tval = value;
    return;
  case csr::pmpcfg0:
  case csr::pmpcfg2:
    s.m.pmpcfg[(number - csr::pmpcfg0) / 2] = value;
    return;
  default:
    if (number >= csr::pmpaddr0 && number <= csr::pmpaddr15)
      s.m.pmpaddr[number - csr::pmpaddr0] = value & writable;
    return;
  }
  // What may be pending or enabled now, and when the timer is due, is looked at between bursts.
  end_burst();
}

} // namespace tandem::machine
