// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/isa/decode.h"

#include "base/check.h"

#include <vector>

namespace tandem::machine {

namespace {

constexpr OpcodeRow kRows[] = {
#define TANDEM_INSTRUCTION(identifier, name, match, mask, format, access, bytes, extension,        \
                           constraint)                                                             \
  {Opcode::identifier,                                                                             \
   name,                                                                                           \
   match,                                                                                          \
   mask,                                                                                           \
   Format::format,                                                                                 \
   AccessClass::access,                                                                            \
   bytes,                                                                                          \
   Extension::extension,                                                                           \
   Constraint::constraint,                                                                         \
   Opcode::identifier},
#include "machine/isa/instructions.def"
#define TANDEM_COMPRESSED(identifier, name, match, mask, format, base, constraint)                 \
  {Opcode::identifier,                                                                             \
   name,                                                                                           \
   match,                                                                                          \
   mask,                                                                                           \
   Format::format,                                                                                 \
   AccessClass::none,                                                                              \
   0,                                                                                              \
   Extension::c,                                                                                   \
   Constraint::constraint,                                                                         \
   Opcode::base},
#include "machine/isa/instructions.def"
};

constexpr std::uint32_t bits_of(std::uint32_t word, unsigned high, unsigned low) {
  return (word >> low) & ((std::uint32_t{1} << (high - low + 1)) - 1);
}
constexpr std::int64_t sign_extend(std::uint64_t value, unsigned width) {
  return static_cast<std::int64_t>(value << (64 - width)) >> (64 - width);
}

// Rows by what every row fixes: bits 6:2 and 14:12 of a 32-bit word (rows that do not fix 14:12 are
// in all eight), bits 1:0 and 15:13 of a compressed one.
constexpr unsigned bucket_of(std::uint32_t word) {
  return is_compressed(word) ? 256 + (bits_of(word, 1, 0) << 3 | bits_of(word, 15, 13))
                             : bits_of(word, 6, 2) << 3 | bits_of(word, 14, 12);
}

std::vector<std::vector<const OpcodeRow *>> make_buckets() {
  std::vector<std::vector<const OpcodeRow *>> buckets(256 + 32);
  for (const OpcodeRow &row : kRows) {
    if (is_compressed(row.match) || (row.mask & 0x7000) == 0x7000) {
      buckets[bucket_of(row.match)].push_back(&row);
    } else {
      for (std::uint32_t funct3 = 0; funct3 < 8; ++funct3)
        buckets[bucket_of(row.match | funct3 << 12)].push_back(&row);
    }
  }
  return buckets;
}

constexpr std::int64_t branch_offset(std::uint32_t w) {
  return sign_extend(bits_of(w, 31, 31) << 12 | bits_of(w, 7, 7) << 11 | bits_of(w, 30, 25) << 5 |
                         bits_of(w, 11, 8) << 1,
                     13);
}
constexpr std::int64_t jump_offset(std::uint32_t w) {
  return sign_extend(bits_of(w, 31, 31) << 20 | bits_of(w, 19, 12) << 12 |
                         bits_of(w, 20, 20) << 11 | bits_of(w, 30, 21) << 1,
                     21);
}

// Immediates of compressed words. Source: the manual's tables of RVC instruction formats.
constexpr std::int64_t ci_imm(std::uint32_t w) {
  return sign_extend(bits_of(w, 12, 12) << 5 | bits_of(w, 6, 2), 6);
}
constexpr std::uint32_t ci_unsigned(std::uint32_t w) {
  return bits_of(w, 12, 12) << 5 | bits_of(w, 6, 2);
}
constexpr std::int64_t ciw_imm(std::uint32_t w) {
  return bits_of(w, 10, 7) << 6 | bits_of(w, 12, 11) << 4 | bits_of(w, 5, 5) << 3 |
         bits_of(w, 6, 6) << 2;
}
constexpr std::int64_t ci_16sp_imm(std::uint32_t w) {
  return sign_extend(bits_of(w, 12, 12) << 9 | bits_of(w, 4, 3) << 7 | bits_of(w, 5, 5) << 6 |
                         bits_of(w, 2, 2) << 5 | bits_of(w, 6, 6) << 4,
                     10);
}
constexpr std::int64_t word_offset(std::uint32_t w) {
  return bits_of(w, 5, 5) << 6 | bits_of(w, 12, 10) << 3 | bits_of(w, 6, 6) << 2;
}
constexpr std::int64_t double_offset(std::uint32_t w) {
  return bits_of(w, 6, 5) << 6 | bits_of(w, 12, 10) << 3;
}
constexpr std::int64_t ci_wsp_offset(std::uint32_t w) {
  return bits_of(w, 3, 2) << 6 | bits_of(w, 12, 12) << 5 | bits_of(w, 6, 4) << 2;
}
constexpr std::int64_t ci_dsp_offset(std::uint32_t w) {
  return bits_of(w, 4, 2) << 6 | bits_of(w, 12, 12) << 5 | bits_of(w, 6, 5) << 3;
}
constexpr std::int64_t css_w_offset(std::uint32_t w) {
  return bits_of(w, 8, 7) << 6 | bits_of(w, 12, 9) << 2;
}
constexpr std::int64_t css_d_offset(std::uint32_t w) {
  return bits_of(w, 9, 7) << 6 | bits_of(w, 12, 10) << 3;
}
constexpr std::int64_t cj_offset(std::uint32_t w) {
  return sign_extend(bits_of(w, 12, 12) << 11 | bits_of(w, 8, 8) << 10 | bits_of(w, 10, 9) << 8 |
                         bits_of(w, 6, 6) << 7 | bits_of(w, 7, 7) << 6 | bits_of(w, 2, 2) << 5 |
                         bits_of(w, 11, 11) << 4 | bits_of(w, 5, 3) << 1,
                     12);
}
constexpr std::int64_t cb_offset(std::uint32_t w) {
  return sign_extend(bits_of(w, 12, 12) << 8 | bits_of(w, 6, 5) << 6 | bits_of(w, 2, 2) << 5 |
                         bits_of(w, 11, 10) << 3 | bits_of(w, 4, 3) << 1,
                     9);
}

// The immediate of a compressed word as its constraint sees it.
std::int64_t constrained_imm(Format format, std::uint32_t word) {
  switch (format) {
  case Format::ciw:
    return ciw_imm(word);
  case Format::ci_16sp:
    return ci_16sp_imm(word);
  default:
    return ci_imm(word);
  }
}

constexpr std::uint8_t narrow(std::uint32_t value) { return static_cast<std::uint8_t>(value); }

void operands_32(Format format, std::uint32_t w, Instruction &to) {
  const std::uint8_t rd = narrow(bits_of(w, 11, 7));
  const std::uint8_t rs1 = narrow(bits_of(w, 19, 15));
  const std::uint8_t rs2 = narrow(bits_of(w, 24, 20));
  const std::int64_t imm = sign_extend(w >> 20, 12);
  to.rm = narrow(bits_of(w, 14, 12));
  switch (format) {
  case Format::u:
    to.rd = rd;
    to.imm = sign_extend(w & 0xfffff000, 32);
    return;
  case Format::j:
    to.rd = rd;
    to.imm = jump_offset(w);
    return;
  case Format::b:
    to.rs1 = rs1;
    to.rs2 = rs2;
    to.imm = branch_offset(w);
    return;
  case Format::i:
  case Format::load:
  case Format::jalr:
  case Format::float_load:
    to.rd = rd;
    to.rs1 = rs1;
    to.imm = imm;
    return;
  case Format::store:
  case Format::float_store:
    to.rs1 = rs1;
    to.rs2 = rs2;
    to.imm = sign_extend(bits_of(w, 31, 25) << 5 | rd, 12);
    return;
  case Format::shift6:
    to.rd = rd;
    to.rs1 = rs1;
    to.imm = bits_of(w, 25, 20);
    return;
  case Format::shift5:
    to.rd = rd;
    to.rs1 = rs1;
    to.imm = rs2;
    return;
  case Format::csr:
  case Format::csri:
    to.rd = rd;
    to.rs1 = rs1;
    to.imm = w >> 20;
    return;
  case Format::fence:
    to.imm = bits_of(w, 27, 20);
    return;
  case Format::plain:
    return;
  case Format::lr:
  case Format::float_rr_rm:
  case Format::float_rr_exact:
  case Format::float_to_int:
  case Format::float_to_int_rm:
  case Format::int_to_float:
  case Format::int_to_float_rm:
  case Format::int_to_float_exact:
    to.rd = rd;
    to.rs1 = rs1;
    return;
  case Format::float_r4:
    to.rs3 = narrow(w >> 27);
    [[fallthrough]];
  default: // the R format and its relatives
    to.rd = rd;
    to.rs1 = rs1;
    to.rs2 = rs2;
    return;
  }
}

// Operands of what the compressed instruction stands for.
void operands_16(Format format, std::uint32_t w, Instruction &to) {
  const std::uint8_t rd = narrow(bits_of(w, 11, 7));
  const std::uint8_t rs2 = narrow(bits_of(w, 6, 2));
  const std::uint8_t low = narrow(8 + bits_of(w, 4, 2));  // rd' of CL and CIW, rs2' of CS and CA
  const std::uint8_t high = narrow(8 + bits_of(w, 9, 7)); // rs1', and rd' of CA and CB
  constexpr std::uint8_t ra = 1;
  constexpr std::uint8_t sp = 2;
  const auto set = [&](std::uint8_t d, std::uint8_t s1, std::uint8_t s2, std::int64_t imm) {
    to.rd = d;
    to.rs1 = s1;
    to.rs2 = s2;
    to.imm = imm;
  };
  switch (format) {
  case Format::ciw:
    return set(low, sp, 0, ciw_imm(w));
  case Format::cl_w:
    return set(low, high, 0, word_offset(w));
  case Format::cl_d:
  case Format::cl_fd:
    return set(low, high, 0, double_offset(w));
  case Format::cs_w:
    return set(0, high, low, word_offset(w));
  case Format::cs_d:
  case Format::cs_fd:
    return set(0, high, low, double_offset(w));
  case Format::ci:
  case Format::ci_nop:
    return set(rd, rd, 0, ci_imm(w));
  case Format::ci_li:
    return set(rd, 0, 0, ci_imm(w));
  case Format::ci_16sp:
    return set(sp, sp, 0, ci_16sp_imm(w));
  case Format::ci_lui:
    return set(rd, 0, 0, ci_imm(w) * 4096);
  case Format::ci_shift:
    return set(rd, rd, 0, ci_unsigned(w));
  case Format::ci_wsp:
    return set(rd, sp, 0, ci_wsp_offset(w));
  case Format::ci_dsp:
  case Format::ci_fdsp:
    return set(rd, sp, 0, ci_dsp_offset(w));
  case Format::css_w:
    return set(0, sp, rs2, css_w_offset(w));
  case Format::css_d:
  case Format::css_fd:
    return set(0, sp, rs2, css_d_offset(w));
  case Format::cb_shift:
    return set(high, high, 0, ci_unsigned(w));
  case Format::cb_andi:
    return set(high, high, 0, ci_imm(w));
  case Format::ca:
    return set(high, high, low, 0);
  case Format::cj:
    return set(0, 0, 0, cj_offset(w));
  case Format::cb:
    return set(0, high, 0, cb_offset(w));
  case Format::cr_jr:
    return set(0, rd, 0, 0);
  case Format::cr_jalr:
    return set(ra, rd, 0, 0);
  case Format::cr_mv:
    return set(rd, 0, rs2, 0);
  case Format::cr_add:
    return set(rd, rd, rs2, 0);
  default: // c_plain
    return;
  }
}

} // namespace

std::span<const OpcodeRow> opcode_rows() { return kRows; }

const OpcodeRow &row_of(Opcode opcode) {
  const std::size_t index = std::size_t(opcode) - 1;
  CHECK(index < std::size(kRows), "opcode {}", unsigned(opcode));
  return kRows[index];
}

bool matches(const OpcodeRow &row, std::uint32_t word) {
  if ((word & row.mask) != row.match || (is_compressed(row.match) && (word >> 16) != 0))
    return false;
  switch (row.constraint) {
  case Constraint::any:
    return true;
  case Constraint::rounding:
    return bits_of(word, 14, 12) != 5 && bits_of(word, 14, 12) != 6;
  case Constraint::rd:
    return bits_of(word, 11, 7) != 0;
  case Constraint::rs2:
    return bits_of(word, 6, 2) != 0;
  case Constraint::imm:
    return constrained_imm(row.format, word) != 0;
  case Constraint::imm_not_sp:
    return constrained_imm(row.format, word) != 0 && bits_of(word, 11, 7) != 2;
  }
  return false;
}

Instruction decode(std::uint32_t word) {
  static const auto buckets = make_buckets();
  const bool compressed = is_compressed(word);
  Instruction found;
  found.length = compressed ? 2 : 4;
  found.bits = compressed ? word & 0xffff : word;
  for (const OpcodeRow *row : buckets[bucket_of(found.bits)]) {
    if (!matches(*row, found.bits))
      continue;
    found.opcode = row->base;
    found.form = row->opcode;
    if (compressed)
      operands_16(row->format, found.bits, found);
    else
      operands_32(row->format, found.bits, found);
    break;
  }
  return found;
}

} // namespace tandem::machine
