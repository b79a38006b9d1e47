// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/isa/operands.h"

namespace tandem::machine {

namespace {

constexpr std::uint8_t x(unsigned number) {
  return number == 0 ? kNoRegister : static_cast<std::uint8_t>(number);
}
constexpr std::uint8_t f(unsigned number) {
  return static_cast<std::uint8_t>(kFirstFloat + number);
}

} // namespace

Operands operands_of(const Instruction &i) {
  if (i.opcode == Opcode::illegal)
    return {};
  switch (row_of(i.opcode).format) {
  case Format::r:
  case Format::amo:
    return {{x(i.rs1), x(i.rs2), kNoRegister}, x(i.rd)};
  case Format::i:
  case Format::shift6:
  case Format::shift5:
  case Format::load:
  case Format::jalr:
  case Format::csr:
  case Format::begin:
  case Format::lr:
    return {{x(i.rs1), kNoRegister, kNoRegister}, x(i.rd)};
  case Format::store:
  case Format::b:
  case Format::sfence:
    return {{x(i.rs1), x(i.rs2), kNoRegister}, kNoRegister};
  case Format::u:
  case Format::j:
  case Format::csri:
  case Format::to_register:
    return {{kNoRegister, kNoRegister, kNoRegister}, x(i.rd)};
  case Format::from_register:
    return {{x(i.rs1), kNoRegister, kNoRegister}, kNoRegister};
  case Format::float_load:
  case Format::int_to_float:
  case Format::int_to_float_rm:
  case Format::int_to_float_exact:
    return {{x(i.rs1), kNoRegister, kNoRegister}, f(i.rd)};
  case Format::float_store:
    return {{x(i.rs1), f(i.rs2), kNoRegister}, kNoRegister};
  case Format::float_r:
  case Format::float_r_rm:
    return {{f(i.rs1), f(i.rs2), kNoRegister}, f(i.rd)};
  case Format::float_r4:
    return {{f(i.rs1), f(i.rs2), f(i.rs3)}, f(i.rd)};
  case Format::float_rr_rm:
  case Format::float_rr_exact:
    return {{f(i.rs1), kNoRegister, kNoRegister}, f(i.rd)};
  case Format::float_compare:
    return {{f(i.rs1), f(i.rs2), kNoRegister}, x(i.rd)};
  case Format::float_to_int:
  case Format::float_to_int_rm:
    return {{f(i.rs1), kNoRegister, kNoRegister}, x(i.rd)};
  case Format::plain:
  case Format::fence:
  // Compressed rows are never executed: decode() expands them.
  case Format::c_plain:
  case Format::ciw:
  case Format::cl_w:
  case Format::cl_d:
  case Format::cl_fd:
  case Format::cs_w:
  case Format::cs_d:
  case Format::cs_fd:
  case Format::ci:
  case Format::ci_nop:
  case Format::ci_li:
  case Format::ci_16sp:
  case Format::ci_lui:
  case Format::ci_shift:
  case Format::ci_wsp:
  case Format::ci_dsp:
  case Format::ci_fdsp:
  case Format::css_w:
  case Format::css_d:
  case Format::css_fd:
  case Format::cb_shift:
  case Format::cb_andi:
  case Format::ca:
  case Format::cj:
  case Format::cb:
  case Format::cr_jr:
  case Format::cr_jalr:
  case Format::cr_mv:
  case Format::cr_add:
    break;
  }
  return {};
}

} // namespace tandem::machine
