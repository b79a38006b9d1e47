// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions as words, for tests that write their own programs. Registers by number; offsets in
// bytes.
#pragma once

#include <cstdint>

namespace tandem::machine::testing::assembler {

constexpr std::uint32_t i_type(std::uint32_t code, unsigned rd, unsigned rs1, int imm) {
  return static_cast<std::uint32_t>(imm) << 20 | rs1 << 15 | rd << 7 | code;
}
constexpr std::uint32_t addi(unsigned rd, unsigned rs1, int imm) {
  return i_type(0x13, rd, rs1, imm);
}
constexpr std::uint32_t li(unsigned rd, int value) { return addi(rd, 0, value); }
// `size` as a power of two: 0 to 3.
constexpr std::uint32_t load(unsigned rd, unsigned rs1, int imm, unsigned size = 3) {
  return i_type(0x03 | size << 12, rd, rs1, imm);
}
constexpr std::uint32_t store(unsigned rs2, unsigned rs1, int imm, unsigned size = 3) {
  const auto bits = static_cast<std::uint32_t>(imm);
  return (bits >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | size << 12 | (bits & 31) << 7 | 0x23;
}
constexpr std::uint32_t add(unsigned rd, unsigned rs1, unsigned rs2) {
  return rs2 << 20 | rs1 << 15 | rd << 7 | 0x33;
}
constexpr std::uint32_t shifted_right(unsigned rd, unsigned rs1, int bits) {
  return i_type(0x13 | 5U << 12, rd, rs1, bits);
}
constexpr std::uint32_t atomic(unsigned function, unsigned rd, unsigned rs1, unsigned rs2) {
  return function << 27 | rs2 << 20 | rs1 << 15 | 3U << 12 | rd << 7 | 0x2f;
}
inline constexpr unsigned kAdd = 0, kReserve = 2, kConditional = 3;
constexpr std::uint32_t branch(unsigned kind, unsigned rs1, unsigned rs2, int bytes) {
  const auto b = static_cast<std::uint32_t>(bytes);
  return (b >> 12 & 1) << 31 | (b >> 5 & 0x3f) << 25 | rs2 << 20 | rs1 << 15 | kind << 12 |
         (b >> 1 & 15) << 8 | (b >> 11 & 1) << 7 | 0x63;
}
inline constexpr unsigned kEqual = 0, kNotEqual = 1, kLess = 4, kAtLeast = 5;
constexpr std::uint32_t jump(unsigned rd, int bytes) {
  const auto b = static_cast<std::uint32_t>(bytes);
  return (b >> 20 & 1) << 31 | (b >> 1 & 0x3ff) << 21 | (b >> 11 & 1) << 20 |
         (b >> 12 & 0xff) << 12 | rd << 7 | 0x6f;
}
constexpr std::uint32_t csrw(unsigned number, unsigned rs1) {
  return i_type(0x73 | 1U << 12, 0, rs1, static_cast<int>(number));
}
constexpr std::uint32_t csrr(unsigned rd, unsigned number) {
  return i_type(0x73 | 2U << 12, rd, 0, static_cast<int>(number));
}
constexpr std::uint32_t csrsi(unsigned number, unsigned imm) {
  return i_type(0x73 | 6U << 12, 0, imm, static_cast<int>(number));
}
constexpr std::uint32_t csrci(unsigned number, unsigned imm) {
  return i_type(0x73 | 7U << 12, 0, imm, static_cast<int>(number));
}
inline constexpr std::uint32_t kWfi = 0x10500073, kEcall = 0x00000073, kEbreak = 0x00100073,
                               kSret = 0x10200073, kNothing = 0x00000013;

// Transactions.
constexpr std::uint32_t xbegin(unsigned rd, unsigned rs1 = 0) { return 0x0b | rd << 7 | rs1 << 15; }
inline constexpr std::uint32_t kXend = 0x100b;
constexpr std::uint32_t xabort(unsigned rs1) { return 0x200b | rs1 << 15; }
constexpr std::uint32_t xpush(unsigned rd) { return 0x300b | rd << 7; }
constexpr std::uint32_t xpop(unsigned rs1) { return 0x400b | rs1 << 15; }
constexpr std::uint32_t xtest(unsigned rd) { return 0x500b | rd << 7; }
constexpr std::uint32_t xdrop(unsigned rs1) { return 0x600b | rs1 << 15; }

} // namespace tandem::machine::testing::assembler
