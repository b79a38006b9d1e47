// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/debug/trace.h"

#include "machine/isa/decode.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace tandem::machine {
namespace {

// The word at an address of the hart: two halves, since the second may be on another page.
std::uint32_t word_at(const Hart &hart, std::uint64_t address) {
  std::array<std::uint16_t, 2> halves{};
  if (!hart.read_virtual(address, std::as_writable_bytes(std::span(halves).first(1))))
    return 0;
  if (!is_compressed(halves[0]))
    (void)hart.read_virtual(address + 2, std::as_writable_bytes(std::span(halves).last(1)));
  return halves[0] | std::uint32_t{halves[1]} << 16;
}

bool accesses(const Instruction &instruction) {
  if (instruction.opcode == Opcode::illegal)
    return false;
  const AccessClass access = row_of(instruction.opcode).access;
  return access != AccessClass::none && access != AccessClass::fence &&
         access != AccessClass::system;
}

char letter(Privilege privilege) {
  return privilege == Privilege::user ? 'U' : privilege == Privilege::supervisor ? 'S' : 'M';
}

} // namespace

struct Trace::Before {
  unsigned hart;
  HartState state;
  std::uint32_t word;
};

Trace::Before Trace::look(unsigned hart) const {
  const Hart &which = machine_->harts()[hart];
  return {.hart = hart, .state = which.state(), .word = word_at(which, which.state().pc)};
}

// One instruction, of whichever hart has its turn: the one that has retired something, or whose pc
// has moved. False: the machine has nothing to do.
bool Trace::step() {
  const unsigned harts = machine_->harts().size();
  std::vector<Before> before;
  before.reserve(harts);
  const unsigned next = machine_->cores().schedule().hart % harts;
  for (unsigned index = 0; index < harts; ++index)
    before.push_back(look((next + index) % harts));
  const std::uint64_t number = machine_->cores().schedule().instructions;
  if (machine_->cores().run(1) == FunctionalCores::End::deadlock)
    return false;
  if (machine_->cores().schedule().instructions == number)
    return true;
  // None has: the one whose turn it was trapped, was served, and will try again.
  const auto ran = std::ranges::find_if(before, [this](const Before &old) {
    const HartState &state = machine_->harts()[old.hart].state();
    return state.instret != old.state.instret || state.pc != old.state.pc;
  });
  const Before &old = ran == before.end() ? before.front() : *ran;
  write(old, machine_->harts()[old.hart], number, machine_->clock().now);
  return true;
}

void Trace::write(const Before &before, const Hart &hart, std::uint64_t number, Cycle cycle) {
  const HartState &old = before.state;
  const HartState &now = hart.state();
  const Instruction instruction = decode(before.word);
  std::string line = fmt::format("{} {} {} {} {:016x} {:<28} {:<32}", number, cycle, before.hart,
                                 letter(old.privilege), old.pc, symbols_->describe(old.pc),
                                 disassemble(instruction, old.pc));
  for (unsigned index = 1; index < 32; ++index)
    if (now.x[index] != old.x[index])
      line += fmt::format(" {}={:x}", kRegisterNames[index], now.x[index]);
  for (unsigned index = 0; index < 32; ++index)
    if (now.f[index] != old.f[index])
      line += fmt::format(" {}={:x}", kFloatRegisterNames[index], now.f[index]);
  if (accesses(instruction)) {
    const std::uint64_t address =
        old.x[instruction.rs1] + static_cast<std::uint64_t>(instruction.imm);
    line += fmt::format(" [{:x}]", address);
    if (row_of(instruction.opcode).access == AccessClass::store)
      line += fmt::format("<-{:x}", row_of(instruction.opcode).format == Format::float_store
                                        ? old.f[instruction.rs2]
                                        : old.x[instruction.rs2]);
  }
  const bool entered = now.privilege == Privilege::supervisor &&
                       (now.scause != old.scause || now.sepc != old.sepc) &&
                       now.instret == old.instret;
  if (entered)
    line +=
        fmt::format(" trap: {}", (now.scause & kInterruptBit) != 0
                                     ? name_of(static_cast<Interrupt>(now.scause & ~kInterruptBit))
                                     : name_of(static_cast<Exception>(now.scause)));
  if (now.instret == old.instret && now.pc == old.pc)
    line += " (served, again)";
  while (line.ends_with(' '))
    line.pop_back();
  fmt::print(out_, "{}\n", line);
}

Session::Stop Trace::run(Session &session, std::uint64_t limit) {
  if (machine_->cores().schedule().instructions < from_) {
    const Session::Stop stop = session.run(std::min(from_, limit));
    if (stop != Session::Stop::limit || from_ >= limit)
      return stop;
  }
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  const std::uint64_t end = std::min(limit, from_ > kMost - count_ ? kMost : from_ + count_);
  while (machine_->cores().schedule().instructions < end && !machine_->ended()) {
    const std::uint64_t before = machine_->cores().schedule().instructions;
    if (!step())
      return Session::Stop::deadlock;
    // What is done between slices has its turn now and then, and when nothing runs.
    if (before % 4096 == 0 || machine_->cores().schedule().instructions == before) {
      if (const std::optional<Session::Stop> stop = session.between())
        return *stop;
    }
  }
  return session.run(limit);
}

} // namespace tandem::machine
