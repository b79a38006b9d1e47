// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words to instructions and back to text. Pure functions over the table instructions.def;
// thread-safe.
#pragma once

#include "machine/isa/format.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tandem::machine {

// One for each row of the table, the 32-bit ones first; `illegal` is what no row claims.
enum class Opcode : std::uint16_t {
  illegal,
#define TANDEM_INSTRUCTION(identifier, ...) identifier,
#include "machine/isa/instructions.def"
  compressed_begin,
  before_compressed = compressed_begin - 1,
#define TANDEM_COMPRESSED(identifier, ...) identifier,
#include "machine/isa/instructions.def"
  count,
};
// How many are executed: compressed ones are executed as what they stand for.
inline constexpr unsigned kBaseOpcodes = unsigned(Opcode::compressed_begin);

struct OpcodeRow {
  Opcode opcode;
  std::string_view name;
  std::uint32_t match;
  std::uint32_t mask;
  Format format;
  AccessClass access;
  std::uint8_t bytes; // of the access
  Extension extension;
  Constraint constraint;
  Opcode base; // itself for 32-bit ones
};

// The table. Without `illegal`.
std::span<const OpcodeRow> opcode_rows();
// Of an opcode other than `illegal` and the marks.
const OpcodeRow &row_of(Opcode opcode);
// Whether `word` (a compressed one in the low 16 bits) is that row's instruction.
bool matches(const OpcodeRow &row, std::uint32_t word);

// A decoded word. Registers that the format has not are 0; so is imm.
struct Instruction {
  Opcode opcode = Opcode::illegal; // what to execute: never a compressed one
  Opcode form = Opcode::illegal;   // the row: for text
  std::uint8_t length = 4;         // bytes: 2 or 4; of an illegal word too
  std::uint8_t rd = 0;
  std::uint8_t rs1 = 0;
  std::uint8_t rs2 = 0;
  std::uint8_t rs3 = 0;
  std::uint8_t rm = 0;  // rounding mode field of F and D
  std::int64_t imm = 0; // sign-extended; csr: the number (rs1 has the 5 bits of csri); lui: shifted
  std::uint32_t bits = 0; // the word itself, 16 bits of a compressed one
};

// Words whose low two bits are 11 have 32 bits; of others the upper half is not looked at.
constexpr bool is_compressed(std::uint32_t word) { return (word & 3) != 3; }
Instruction decode(std::uint32_t word);

// As binutils writes it without aliases, a blank after the name: `addi a0,a0,-1`, `c.jr ra`;
// targets of branches and jumps as absolute addresses from `pc`. An illegal one: `.2byte 0x0`,
// `.4byte 0x0`.
std::string disassemble(const Instruction &instruction, std::uint64_t pc);

// ABI names: zero, ra, sp, ...; ft0, ft1, ...
extern const std::array<std::string_view, 32> kRegisterNames;
extern const std::array<std::string_view, 32> kFloatRegisterNames;

} // namespace tandem::machine
