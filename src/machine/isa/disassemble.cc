// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/isa/csr.h"
#include "machine/isa/decode.h"

#include <fmt/format.h>

namespace tandem::machine {

const std::array<std::string_view, 32> kRegisterNames = {
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
const std::array<std::string_view, 32> kFloatRegisterNames = {
    "ft0", "ft1", "ft2", "ft3", "ft4",  "ft5",  "ft6", "ft7", "fs0",  "fs1", "fa0",
    "fa1", "fa2", "fa3", "fa4", "fa5",  "fa6",  "fa7", "fs2", "fs3",  "fs4", "fs5",
    "fs6", "fs7", "fs8", "fs9", "fs10", "fs11", "ft8", "ft9", "ft10", "ft11"};

namespace {

constexpr std::array<std::string_view, 8> kRounding = {
    ",rne", ",rtz", ",rdn", ",rup", ",rmm", ",(reserved5)", ",(reserved6)", ""};

// The letters of a fence's four bits.
std::string fence_set(std::int64_t bits) {
  std::string text;
  for (unsigned at = 0; at < 4; ++at)
    if ((bits >> (3 - at) & 1) != 0)
      text += "iorw"[at];
  return text.empty() ? "unknown" : text;
}

std::string csr_name(std::int64_t number) {
  const CsrRow *row = find_csr(static_cast<unsigned>(number));
  return row != nullptr ? std::string(row->name) : fmt::format("0x{:x}", number);
}

std::string upper_immediate(std::int64_t imm) {
  return fmt::format("0x{:x}", static_cast<std::uint64_t>(imm) >> 12 & 0xfffff);
}

std::string_view aq_rl(std::uint32_t bits) {
  constexpr std::array<std::string_view, 4> kSuffix = {"", ".rl", ".aq", ".aqrl"};
  return kSuffix[bits >> 25 & 3];
}

std::string operands_16(Format format, const Instruction &i, std::uint64_t target) {
  const auto x = [](unsigned index) { return kRegisterNames[index]; };
  const auto f = [](unsigned index) { return kFloatRegisterNames[index]; };
  switch (format) {
  case Format::ciw:
    return fmt::format("{},{},{}", x(i.rd), x(i.rs1), i.imm);
  case Format::cl_w:
  case Format::cl_d:
  case Format::ci_wsp:
  case Format::ci_dsp:
    return fmt::format("{},{}({})", x(i.rd), i.imm, x(i.rs1));
  case Format::cl_fd:
  case Format::ci_fdsp:
    return fmt::format("{},{}({})", f(i.rd), i.imm, x(i.rs1));
  case Format::cs_w:
  case Format::cs_d:
  case Format::css_w:
  case Format::css_d:
    return fmt::format("{},{}({})", x(i.rs2), i.imm, x(i.rs1));
  case Format::cs_fd:
  case Format::css_fd:
    return fmt::format("{},{}({})", f(i.rs2), i.imm, x(i.rs1));
  case Format::ci:
  case Format::ci_li:
  case Format::ci_16sp:
  case Format::cb_andi:
    return fmt::format("{},{}", x(i.rd), i.imm);
  case Format::ci_nop:
    return i.imm == 0 ? std::string() : fmt::format("{}", i.imm);
  case Format::ci_lui:
    return fmt::format("{},{}", x(i.rd), upper_immediate(i.imm));
  case Format::ci_shift:
  case Format::cb_shift:
    return fmt::format("{},0x{:x}", x(i.rd), i.imm);
  case Format::ca:
  case Format::cr_mv:
  case Format::cr_add:
    return fmt::format("{},{}", x(i.rd), x(i.rs2));
  case Format::cj:
    return fmt::format("0x{:x}", target);
  case Format::cb:
    return fmt::format("{},0x{:x}", x(i.rs1), target);
  case Format::cr_jr:
  case Format::cr_jalr:
    return std::string(x(i.rs1));
  default:
    return {};
  }
}

std::string operands_32(Format format, const Instruction &i, std::uint64_t target) {
  const auto x = [](unsigned index) { return kRegisterNames[index]; };
  const auto f = [](unsigned index) { return kFloatRegisterNames[index]; };
  const std::string_view rm = kRounding[i.rm & 7];
  switch (format) {
  case Format::r:
    return fmt::format("{},{},{}", x(i.rd), x(i.rs1), x(i.rs2));
  case Format::i:
    return fmt::format("{},{},{}", x(i.rd), x(i.rs1), i.imm);
  case Format::shift6:
  case Format::shift5:
    return fmt::format("{},{},0x{:x}", x(i.rd), x(i.rs1), i.imm);
  case Format::load:
  case Format::jalr:
    return fmt::format("{},{}({})", x(i.rd), i.imm, x(i.rs1));
  case Format::store:
    return fmt::format("{},{}({})", x(i.rs2), i.imm, x(i.rs1));
  case Format::b:
    return fmt::format("{},{},0x{:x}", x(i.rs1), x(i.rs2), target);
  case Format::u:
    return fmt::format("{},{}", x(i.rd), upper_immediate(i.imm));
  case Format::j:
    return fmt::format("{},0x{:x}", x(i.rd), target);
  case Format::fence:
    return fmt::format("{},{}", fence_set(i.imm >> 4 & 15), fence_set(i.imm & 15));
  case Format::csr:
    return fmt::format("{},{},{}", x(i.rd), csr_name(i.imm), x(i.rs1));
  case Format::csri:
    return fmt::format("{},{},{}", x(i.rd), csr_name(i.imm), i.rs1);
  case Format::sfence:
    return fmt::format("{},{}", x(i.rs1), x(i.rs2));
  case Format::to_register:
    return std::string(x(i.rd));
  case Format::from_register:
    return std::string(x(i.rs1));
  case Format::begin:
    return i.rs1 == 0 ? std::string(x(i.rd)) : fmt::format("{},{}", x(i.rd), x(i.rs1));
  case Format::lr:
    return fmt::format("{},({})", x(i.rd), x(i.rs1));
  case Format::amo:
    return fmt::format("{},{},({})", x(i.rd), x(i.rs2), x(i.rs1));
  case Format::float_load:
    return fmt::format("{},{}({})", f(i.rd), i.imm, x(i.rs1));
  case Format::float_store:
    return fmt::format("{},{}({})", f(i.rs2), i.imm, x(i.rs1));
  case Format::float_r:
    return fmt::format("{},{},{}", f(i.rd), f(i.rs1), f(i.rs2));
  case Format::float_r_rm:
    return fmt::format("{},{},{}{}", f(i.rd), f(i.rs1), f(i.rs2), rm);
  case Format::float_r4:
    return fmt::format("{},{},{},{}{}", f(i.rd), f(i.rs1), f(i.rs2), f(i.rs3), rm);
  case Format::float_rr_rm:
    return fmt::format("{},{}{}", f(i.rd), f(i.rs1), rm);
  case Format::float_rr_exact:
    return fmt::format("{},{}", f(i.rd), f(i.rs1));
  case Format::float_compare:
    return fmt::format("{},{},{}", x(i.rd), f(i.rs1), f(i.rs2));
  case Format::float_to_int:
    return fmt::format("{},{}", x(i.rd), f(i.rs1));
  case Format::float_to_int_rm:
    return fmt::format("{},{}{}", x(i.rd), f(i.rs1), rm);
  case Format::int_to_float:
  case Format::int_to_float_exact:
    return fmt::format("{},{}", f(i.rd), x(i.rs1));
  case Format::int_to_float_rm:
    return fmt::format("{},{}{}", f(i.rd), x(i.rs1), rm);
  default:
    return {};
  }
}

} // namespace

std::string disassemble(const Instruction &instruction, std::uint64_t pc) {
  if (instruction.form == Opcode::illegal)
    return fmt::format(".{}byte 0x{:x}", instruction.length, instruction.bits);
  const OpcodeRow &row = row_of(instruction.form);
  const std::uint64_t target = pc + static_cast<std::uint64_t>(instruction.imm);
  std::string text(row.name);
  if (row.format == Format::lr || row.format == Format::amo)
    text += aq_rl(instruction.bits);
  const std::string operands = instruction.length == 2
                                   ? operands_16(row.format, instruction, target)
                                   : operands_32(row.format, instruction, target);
  if (!operands.empty())
    text += ' ' + operands;
  return text;
}

} // namespace tandem::machine
