// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sections that were begun with a descriptor, as the profile names them.
#pragma once

#include <tandem/abi.h>

#include <cstdint>

namespace tandem::profile {

// Copied, because the output may be unloaded before the profile is written. Strings are never null.
struct Description {
  const char *name;
  const char *output;
  const char *file;
  const char **colours; // names
  std::uint32_t colour_count;
  std::uint32_t line;
  std::uint8_t kind;          // tandem_section_kind
  std::uint8_t section_class; // tandem_section_class
};

// Never freed, never null.
const Description *describe(const tandem_section &section) noexcept;

// Names of docs/formats/profile.md.
const char *kind_name(const Description &description) noexcept;
const char *class_name(const Description &description) noexcept;

} // namespace tandem::profile
