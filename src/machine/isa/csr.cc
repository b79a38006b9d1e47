// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/isa/csr.h"

#include <array>

namespace tandem::machine {

namespace {
constexpr CsrRow kRows[] = {
#define TANDEM_CSR(name, number, writable, about) {#name, number, writable, about},
#include "machine/isa/csr.def"
};
static_assert(std::size(kRows) < 255);

// Row and one, by number; 0: none.
constexpr std::array<std::uint8_t, 4096> kIndex = [] {
  std::array<std::uint8_t, 4096> index{};
  for (std::size_t row = 0; row < std::size(kRows); ++row)
    index[kRows[row].number] = static_cast<std::uint8_t>(row + 1);
  return index;
}();
} // namespace

std::span<const CsrRow> csr_rows() { return kRows; }

const CsrRow *find_csr(unsigned number) {
  const unsigned index = kIndex[number & 0xfff];
  return index == 0 ? nullptr : &kRows[index - 1];
}

} // namespace tandem::machine
