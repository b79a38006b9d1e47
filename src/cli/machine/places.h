// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What names the places where hardware transactions begin (docs/machine/metatm.md, Places).
#pragma once

#include "machine/platform/elf.h"
#include "machine/proxy/address_space.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tandem::machine_cli {

// A section of tandem-cc's, or an address by its symbol.
struct Place {
  std::string name{};
  std::string output{}; // empty: by its symbol, as is all that follows
  std::string file{};
  std::uint32_t line = 0; // 0: unknown
  const char *kind = "";  // as docs/formats/profile.md has it, with `class`
  const char *section_class = "";
  std::vector<std::string> colours{};
};

// Looks at what `space` holds now. For one thread; both arguments outlive it.
class Places {
public:
  // `space`: of the program; null where memory is a kernel's or a bare program's.
  explicit Places(const machine::Symbols &symbols, machine::proxy::AddressSpace *space = nullptr)
      : symbols_(&symbols), space_(space) {}

  // The place that an xbegin has said, or where it lies. The reference is good as long as this is.
  const Place &of(std::uint64_t site);

private:
  [[nodiscard]] bool describe(std::uint64_t site, Place &place);

  const machine::Symbols *symbols_;
  machine::proxy::AddressSpace *space_;
  std::map<std::uint64_t, Place> known_;
};

} // namespace tandem::machine_cli
