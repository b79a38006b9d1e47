// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/isa/document.h"

#include "machine/isa/csr.h"
#include "machine/isa/decode.h"

#include <fmt/format.h>

namespace tandem::machine {

namespace {

std::string_view words_of(Extension extension) {
  switch (extension) {
  case Extension::i:
    return "I";
  case Extension::m:
    return "M";
  case Extension::a:
    return "A";
  case Extension::f:
    return "F";
  case Extension::d:
    return "D";
  case Extension::c:
    return "C";
  case Extension::zicsr:
    return "Zicsr";
  case Extension::zifencei:
    return "Zifencei";
  case Extension::s:
    return "supervisor";
  case Extension::m_mode:
    return "machine mode only";
  case Extension::xtm:
    return "transactions";
  }
  return "";
}

std::string words_of(AccessClass access, unsigned bytes) {
  switch (access) {
  case AccessClass::none:
    return "";
  case AccessClass::load:
    return fmt::format("load {}", bytes);
  case AccessClass::store:
    return fmt::format("store {}", bytes);
  case AccessClass::load_reserved:
    return fmt::format("load reserved {}", bytes);
  case AccessClass::store_conditional:
    return fmt::format("store conditional {}", bytes);
  case AccessClass::atomic:
    return fmt::format("atomic {}", bytes);
  case AccessClass::fence:
    return "fence";
  case AccessClass::system:
    return "system";
  }
  return "";
}

std::string_view words_of(Constraint constraint) {
  switch (constraint) {
  case Constraint::any:
    return "";
  case Constraint::rounding:
    return "rm not 5, 6";
  case Constraint::rd:
    return "rd not 0";
  case Constraint::rs2:
    return "rs2 not 0";
  case Constraint::imm:
    return "immediate not 0";
  case Constraint::imm_not_sp:
    return "immediate not 0, rd not 2";
  }
  return "";
}

// A word of the row with operands that show where they stand.
std::string example(const OpcodeRow &row) {
  const bool compressed = is_compressed(row.match);
  std::uint32_t word = row.match;
  // Registers a0 to a2 where the row leaves them free; compressed ones take what the bits give.
  const std::uint32_t wanted = compressed ? 0x0528 : 10U << 7 | 11U << 15 | 12U << 20 | 0x7000;
  word |= wanted & ~row.mask;
  for (std::uint32_t bit = 0; !matches(row, word) && bit < (compressed ? 16 : 32); ++bit)
    if ((row.mask >> bit & 1) == 0)
      word ^= 1U << bit;
  return disassemble(decode(word), 0x1000);
}

} // namespace

std::string instruction_page() {
  std::string page =
      "# Instructions and control registers of the harts\n\n"
      "Made from `src/machine/isa/instructions.def` and `src/machine/isa/csr.def` by\n"
      "`build/release/tests/machine_isa_tool page`; a test compares.\n\n"
      "## Instructions\n\n"
      "A word is the instruction if `word & mask == match` and the condition holds. What no row\n"
      "claims is illegal. The access is what a core with timing asks permission for, in bytes.\n\n"
      "| instruction | extension | match | mask | condition | access | example |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const OpcodeRow &row : opcode_rows()) {
    const bool compressed = is_compressed(row.match);
    const OpcodeRow &base = row_of(row.base);
    const std::string access = words_of(base.access, base.bytes);
    page += fmt::format("| `{}` | {} | `{:0{}x}` | `{:0{}x}` | {} | {} | `{}` |\n", row.name,
                        words_of(row.extension), row.match, compressed ? 4 : 8, row.mask,
                        compressed ? 4 : 8, words_of(row.constraint), access, example(row));
  }
  page += "\n## Control and status registers\n\n"
          "| register | number | bits that can be written | about |\n|---|---|---|---|\n";
  for (const CsrRow &row : csr_rows())
    page += fmt::format("| `{}` | `{:03x}` | `{:x}` | {} |\n", row.name, row.number, row.writable,
                        row.about);
  return page;
}

} // namespace tandem::machine
