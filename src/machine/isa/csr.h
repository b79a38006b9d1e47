// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers, names and writable bits of the control and status registers (csr.def).
#pragma once

#include "machine/isa/state.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace tandem::machine {

namespace csr {
#define TANDEM_CSR(name, number, writable, about) inline constexpr unsigned name = number;
#include "machine/isa/csr.def"
} // namespace csr

struct CsrRow {
  std::string_view name;
  unsigned number;
  std::uint64_t writable;
  std::string_view about;
};
std::span<const CsrRow> csr_rows();
// The row, null if the machine has no such register.
const CsrRow *find_csr(unsigned number);

// The least privilege that may touch it, and whether it can be written at all.
constexpr Privilege csr_privilege(unsigned number) { return Privilege((number >> 8) & 3); }
constexpr bool csr_read_only(unsigned number) { return (number >> 10 & 3) == 3; }

} // namespace tandem::machine
