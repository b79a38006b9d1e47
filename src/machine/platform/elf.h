// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs and kernels as ELF files: what is to be loaded where, and the names of addresses.
// Whatever the file holds, nothing outside of it is read.
//
// Source: System V ABI, chapters 4 and 5; RISC-V ELF psABI specification.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::machine {

// Names of addresses. A plain value; lookups are for any number of threads.
class Symbols {
public:
  struct Symbol {
    std::uint64_t address;
    std::uint64_t size; // 0: up to the next one
    std::string name;
  };
  struct Place {
    const Symbol *symbol;
    std::uint64_t offset;
  };

  Symbols() = default;
  // In any order; of several at an address the largest stays.
  explicit Symbols(std::vector<Symbol> symbols);

  [[nodiscard]] bool empty() const { return symbols_.empty(); }
  // The symbol that an address lies in; none if it lies in none.
  [[nodiscard]] std::optional<Place> find(std::uint64_t address) const;
  [[nodiscard]] const Symbol *named(std::string_view name) const;
  // All of them `by` higher.
  [[nodiscard]] Symbols moved(std::uint64_t by) const;
  // "main+0x1c", "main", or "0x10432" where there is no name.
  [[nodiscard]] std::string describe(std::uint64_t address) const;

private:
  std::vector<Symbol> symbols_; // by address
};

struct ElfFile {
  struct Segment { // of type PT_LOAD
    std::uint64_t address;
    std::uint64_t physical;
    std::uint64_t offset; // in the file
    std::uint64_t file_size;
    std::uint64_t memory_size; // at least file_size; address + memory_size does not wrap
    bool readable;
    bool writable;
    bool executable;
  };

  std::string path;
  bool relocatable = false; // ET_DYN: addresses are from wherever it is put
  std::uint64_t entry = 0;
  std::vector<Segment> segments; // not empty; in the file's order
  std::string interpreter;       // of a dynamically linked program, else empty
  std::uint64_t headers = 0;     // offset of the program headers, their size and number
  std::uint64_t header_size = 0;
  std::uint64_t header_count = 0;
  std::optional<std::uint64_t> stack_size{}; // PT_GNU_STACK asks for one
  Symbols symbols;                           // of .symtab; empty if it has none
  std::string bytes;                         // the whole file

  // `path` is for messages. Error: no RV64 executable, or damaged; names what is wrong and where.
  static Result<ElfFile> parse(std::string path, std::string bytes);
  // Whether it begins as every ELF file does.
  static bool recognised(std::string_view bytes);

  [[nodiscard]] std::uint64_t lowest() const;
  [[nodiscard]] std::uint64_t highest() const; // behind the last byte
};

} // namespace tandem::machine
