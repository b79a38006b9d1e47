// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of instructions claims no word twice, and leaves out what the manual reserves.
#include "machine/isa/csr.h"
#include "machine/isa/decode.h"
#include "machine/isa/operands.h"

#include <algorithm>
#include <cctype>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace tandem::machine {
namespace {

TEST(machine_isa, every_row_matches_itself) {
  for (const OpcodeRow &row : opcode_rows()) {
    EXPECT_EQ(row.match & ~row.mask, 0U) << row.name;
    EXPECT_EQ(&row_of(row.opcode), &row) << row.name;
    EXPECT_LT(unsigned(row.base), kBaseOpcodes) << row.name;
  }
}

// Two 32-bit rows share a word unless they differ in a bit that both fix. Their only constraint,
// that rm is not reserved, never tells two rows apart.
TEST(machine_isa, no_two_rows_overlap) {
  const auto rows = opcode_rows();
  for (const OpcodeRow &a : rows) {
    for (const OpcodeRow &b : rows) {
      if (&a >= &b || is_compressed(a.match) || is_compressed(b.match))
        continue;
      EXPECT_NE((a.match ^ b.match) & a.mask & b.mask, 0U) << a.name << " and " << b.name;
    }
  }
}

TEST(machine_isa, no_compressed_word_is_two_instructions) {
  for (std::uint32_t word = 0; word < 0x10000; ++word) {
    if (!is_compressed(word))
      continue;
    const auto count = std::ranges::count_if(
        opcode_rows(), [&](const OpcodeRow &row) { return matches(row, word); });
    EXPECT_LE(count, 1) << std::hex << word;
    EXPECT_EQ(count == 1, decode(word).form != Opcode::illegal) << std::hex << word;
  }
}

// The decoder's buckets are a short cut: it finds what a search of the whole table finds.
TEST(machine_isa, decoder_agrees_with_a_search) {
  const unsigned seed = 1;
  std::mt19937 random(seed);
  for (unsigned i = 0; i < 300'000; ++i) {
    auto word = static_cast<std::uint32_t>(random());
    if (i % 2 == 0) { // near a row
      const auto rows = opcode_rows();
      const OpcodeRow &row = rows[random() % rows.size()];
      word = (word & ~row.mask) | row.match;
    }
    const std::uint32_t looked_at = is_compressed(word) ? word & 0xffff : word;
    const auto found = std::ranges::find_if(
        opcode_rows(), [&](const OpcodeRow &row) { return matches(row, looked_at); });
    const Opcode expected = found == opcode_rows().end() ? Opcode::illegal : found->opcode;
    ASSERT_EQ(unsigned(decode(word).form), unsigned(expected))
        << std::hex << word << " seed " << seed;
  }
}

TEST(machine_isa, reserved_words_are_illegal) {
  for (const std::uint32_t word : {
           0x0000U,     // all zero
           0xffffffffU, // all one
           0x6001U,     // c.lui with immediate 0
           0x6101U,     // c.addi16sp with immediate 0
           0x2001U,     // c.addiw to x0
           0x4002U,     // c.lwsp to x0
           0x8002U,     // c.jr x0
           0x0004U,     // c.addi4spn with immediate 0
           0x9c41U,     // reserved beside c.addw
           0x00b5d053U, // fadd.s with rounding mode 5
           0x02b5e053U, // fadd.d with rounding mode 6
           0x0205951bU, // slliw with a shift of 32
       })
    EXPECT_EQ(unsigned(decode(word).form), unsigned(Opcode::illegal)) << std::hex << word;
}

TEST(machine_isa, immediates) {
  EXPECT_EQ(disassemble(decode(0xfe5ff0ef), 0x1000), "jal ra,0xfe4");
  EXPECT_EQ(disassemble(decode(0xfff00513), 0), "addi a0,zero,-1");
  EXPECT_EQ(disassemble(decode(0x800005b7), 0), "lui a1,0x80000");
  EXPECT_EQ(decode(0x800005b7).imm, -0x80000000LL);
  EXPECT_EQ(disassemble(decode(0xfe000ee3), 0x100), "beq zero,zero,0xfc");
  EXPECT_EQ(disassemble(decode(0x100522af), 0), "lr.w t0,(a0)");
  EXPECT_EQ(disassemble(decode(0x0), 0), ".2byte 0x0");
}

TEST(machine_isa, control_registers_follow_their_numbers) {
  for (const CsrRow &row : csr_rows()) {
    EXPECT_EQ(find_csr(row.number), &row);
    if (csr_read_only(row.number)) {
      EXPECT_EQ(row.writable, 0U) << row.name;
    }
  }
  EXPECT_EQ(find_csr(0x7c0), nullptr);
}

// Registers that are read and written, against those that the disassembler names: the first is the
// result, unless the instruction stores, branches or only reads.
TEST(machine_isa, operands_are_those_of_the_text) {
  std::mt19937 random(7);
  const auto names_of = [](const std::string &text) {
    std::vector<unsigned> found;
    std::string word;
    const auto ends = [&] {
      for (unsigned i = 0; i < 32; ++i) {
        if (word == kRegisterNames[i])
          found.push_back(i);
        if (word == kFloatRegisterNames[i])
          found.push_back(kFirstFloat + i);
      }
      word.clear();
    };
    for (const char letter : text.substr(text.find(' ') + 1))
      if (std::isalnum(static_cast<unsigned char>(letter)) != 0)
        word += letter;
      else
        ends();
    ends();
    return found;
  };
  for (const OpcodeRow &row : opcode_rows()) {
    if (is_compressed(row.match))
      continue;
    unsigned looked_at = 0; // some words are reserved
    for (unsigned turn = 0; turn < 50; ++turn) {
      const Instruction i = decode((static_cast<std::uint32_t>(random()) & ~row.mask) | row.match);
      if (i.opcode != row.opcode)
        continue;
      ++looked_at;
      std::vector<unsigned> named = names_of(disassemble(i, 0));
      if (row.format == Format::csr) // the control register may be called as one of these
        named = {i.rd, i.rs1};
      const bool reads_only = row.format == Format::b || row.format == Format::sfence ||
                              row.format == Format::from_register;
      const bool stores = row.format == Format::store || row.format == Format::float_store;
      std::multiset<unsigned> sources;
      unsigned result = kNoRegister;
      for (std::size_t at = 0; at < named.size(); ++at)
        if (at == 0 && !reads_only && !stores)
          result = named[at] == 0 ? kNoRegister : named[at];
        else if (named[at] != 0)
          sources.insert(named[at]);
      const Operands operands = operands_of(i);
      std::multiset<unsigned> said(operands.sources.begin(), operands.sources.end());
      said.erase(kNoRegister);
      EXPECT_EQ(said, sources) << disassemble(i, 0);
      EXPECT_EQ(unsigned(operands.result), result) << disassemble(i, 0);
    }
    EXPECT_GT(looked_at, 0U) << row.name;
  }
}

} // namespace
} // namespace tandem::machine
