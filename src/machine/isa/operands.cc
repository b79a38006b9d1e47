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
  default: // no operands, or of a compressed row, which is never executed
    return {};
  }
}

} // namespace tandem::machine
