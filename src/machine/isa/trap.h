// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traps: why an instruction did not happen, and which interrupts there are. A trap is a value that
// is returned, never an exception of the host's language.
//
// Source: RISC-V privileged manual, scause (numbers) and stval (values).
#pragma once

#include <cstdint>
#include <string_view>

namespace tandem::machine {

// The numbers are those of scause.
enum class Exception : std::uint8_t {
  instruction_misaligned = 0, // never here: with C every even address is aligned
  instruction_access = 1,
  illegal_instruction = 2,
  breakpoint = 3,
  load_misaligned = 4, // LR only
  load_access = 5,
  store_misaligned = 6, // SC and AMO only
  store_access = 7,
  ecall_user = 8,
  ecall_supervisor = 9,
  ecall_machine = 11,
  instruction_page = 12,
  load_page = 13,
  store_page = 15,
};

// The numbers are those of scause and the bit positions of sie and sip.
enum class Interrupt : std::uint8_t {
  supervisor_software = 1,
  machine_software = 3,
  supervisor_timer = 5,
  machine_timer = 7,
  supervisor_external = 9,
  machine_external = 11,
};

constexpr std::uint64_t bit(Exception cause) { return std::uint64_t{1} << unsigned(cause); }
constexpr std::uint64_t bit(Interrupt cause) { return std::uint64_t{1} << unsigned(cause); }

// Bit 63 of scause: an interrupt.
inline constexpr std::uint64_t kInterruptBit = std::uint64_t{1} << 63;

// `value` is what stval becomes: the faulting virtual address, the instruction's bits if it is
// illegal, the address of an ebreak, 0 for ecall.
struct Trap {
  Exception cause;
  std::uint64_t value;
};

// In lower-case words: "load page fault". For messages and traces.
std::string_view name_of(Exception cause);
std::string_view name_of(Interrupt cause);

} // namespace tandem::machine
