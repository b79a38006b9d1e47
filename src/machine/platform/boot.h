// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts kernels and bare programs into a board and starts its first hart: in S-mode, a0 = 0, a1 =
// the device tree. The tree lies at the end of memory, an initial file system below it.
#pragma once

#include "base/result.h"
#include "machine/platform/board.h"
#include "machine/platform/elf.h"

#include <cstdint>
#include <string>

namespace tandem::machine {

struct BootOptions {
  std::string kernel;      // an Image of the kernel's build, or an ELF file
  std::string initrd{};    // empty: none
  std::string tree{};      // a device tree instead of the machine's own; empty: none
  std::string arguments{}; // for the kernel
  std::uint64_t seed = 1;  // of /chosen/rng-seed
};

// Error: a file that cannot be read, is of another kind or machine, or does not fit into memory.
// Nothing has started then. Result: the kernel's symbols, none of an Image.
Result<Symbols> load_kernel(Board &board, const BootOptions &options);

// A bare program as an ELF file at its physical addresses. Errors as above.
Result<Symbols> load_bare(Board &board, const ElfFile &program, std::uint64_t seed);

} // namespace tandem::machine
