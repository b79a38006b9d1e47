// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts a static Linux program into an address space: segments, heap, stack with arguments,
// environment and auxiliary vector; and makes its first thread.
//
// Source: Linux 6.1, fs/binfmt_elf.c; System V ABI, "Process Initialization".
#pragma once

#include "base/result.h"
#include "machine/platform/elf.h"
#include "machine/proxy/kernel.h"

namespace tandem::machine::proxy {

// Error: the program is dynamically linked, is no program for user mode, or does not fit.
Status load_program(Kernel &kernel, const ElfFile &program);

// Whether a file is meant to run without a kernel: its segments lie in the machine's memory.
bool is_bare(const ElfFile &program);

// Where a program's addresses are moved to: 0 unless it is position independent.
std::uint64_t bias_of(const ElfFile &program);

} // namespace tandem::machine::proxy
