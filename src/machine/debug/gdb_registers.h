// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers of a hart as gdb numbers them, and the description that tells it so.
//
// Source: "Debugging with GDB", RISC-V Features: org.gnu.gdb.riscv.cpu, .fpu and .csr.
#pragma once

#include "machine/hart/hart.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tandem::machine {

inline constexpr unsigned kGdbPc = 32;
inline constexpr unsigned kGdbFloat = 33;
inline constexpr unsigned kGdbCsr = 65; // of CSR 0

// target.xml.
std::string gdb_description();

// A register as hex digits, little-endian; none if there is no such number.
std::optional<std::string> gdb_register(const Hart &hart, unsigned number);
// x0 to x31 and pc, the reply to `g`.
std::string gdb_general(const Hart &hart);
// False: no such register, or one that cannot be written.
bool set_gdb_register(Hart &hart, unsigned number, std::string_view hex);

} // namespace tandem::machine
