// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions as words, for the programs of tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::machine::testing::words {

using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t i_type(std::uint32_t code, unsigned rd, unsigned rs1, int imm) {
  return static_cast<std::uint32_t>(imm) << 20 | rs1 << 15 | rd << 7 | code;
}
constexpr std::uint32_t addi(unsigned rd, unsigned rs1, int imm) {
  return i_type(0x13, rd, rs1, imm);
}
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
constexpr std::uint32_t atomic(unsigned function, unsigned rd, unsigned rs1, unsigned rs2) {
  return function << 27 | rs2 << 20 | rs1 << 15 | 3U << 12 | rd << 7 | 0x2f;
}
constexpr unsigned kAdd = 0, kReserve = 2, kConditional = 3;
constexpr std::uint32_t branch(unsigned kind, unsigned rs1, unsigned rs2, int bytes) {
  const auto b = static_cast<std::uint32_t>(bytes);
  return (b >> 12 & 1) << 31 | (b >> 5 & 0x3f) << 25 | rs2 << 20 | rs1 << 15 | kind << 12 |
         (b >> 1 & 15) << 8 | (b >> 11 & 1) << 7 | 0x63;
}
constexpr unsigned kEqual = 0, kNotEqual = 1;
constexpr std::uint32_t hint_of(unsigned number) {
  return i_type(0x13 | 2U << 12, 0, 0, static_cast<int>(number));
}
constexpr std::uint32_t kFence = 0x0330000f;       // rw, rw
constexpr std::uint32_t kFenceWrites = 0x0110000f; // w, w
constexpr std::uint32_t kWfi = 0x10500073;
constexpr std::uint32_t kJumpBack = 0xffdff06f;  // j -4
constexpr std::uint16_t kShort = 0x0285;         // c.addi x5, 1
constexpr std::uint32_t kReadCycle = 0xc0002573; // rdcycle x10

// A program as bytes, since instructions of two sizes make code that lies across lines.
class Program {
public:
  void word(std::uint32_t word) { append(&word, sizeof word); }
  void half(std::uint16_t half) { append(&half, sizeof half); }
  [[nodiscard]] const std::vector<std::byte> &bytes() const { return bytes_; }

private:
  void append(const void *from, std::size_t size) {
    const auto *at = static_cast<const std::byte *>(from);
    bytes_.insert(bytes_.end(), at, at + size);
  }
  std::vector<std::byte> bytes_;
};

inline Program program_of(const Words &words) {
  Program program;
  for (const std::uint32_t word : words)
    program.word(word);
  return program;
}

} // namespace tandem::machine::testing::words
