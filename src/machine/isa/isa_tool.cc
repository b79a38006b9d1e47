// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction set for tests in other languages: machine_isa_tool table | csrs | page | text.
// `text` reads 32-bit little-endian words and writes a line for each, as if it stood at address 0.
#include "machine/isa/csr.h"
#include "machine/isa/decode.h"
#include "machine/isa/document.h"

#include <cstdio>
#include <fmt/format.h>
#include <iostream>

using namespace tandem::machine;

namespace {

// A line for each row: name match mask format constraint extension access, in the table's words.
void print_table() {
  std::string out;
#define TANDEM_INSTRUCTION(identifier, name, match, mask, shape, access, bytes, extension,         \
                           constraint)                                                             \
  out += fmt::format("{} {:#x} {:#x} {} {} {} {}\n", name, match, mask, #shape, #constraint,       \
                     #extension, #access);
#define TANDEM_COMPRESSED(identifier, name, match, mask, shape, base, constraint)                  \
  out += fmt::format("{} {:#x} {:#x} {} {} c none\n", name, match, mask, #shape, #constraint);
#include "machine/isa/instructions.def"
  std::fputs(out.c_str(), stdout);
}

void print_texts() {
  std::uint32_t word = 0;
  std::string out;
  while (std::fread(&word, sizeof word, 1, stdin) == 1) {
    out += disassemble(decode(word), 0);
    out += '\n';
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
}

} // namespace

int main(int argc, char **argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what == "table")
    print_table();
  else if (what == "csrs")
    for (const CsrRow &row : csr_rows())
      fmt::print("{} {:#x} {:#x}\n", row.name, row.number, row.writable);
  else if (what == "page")
    std::cout << instruction_page();
  else if (what == "text")
    print_texts();
  else {
    std::fputs("machine_isa_tool: say table, csrs, page or text\n", stderr);
    return 2;
  }
  return 0;
}
