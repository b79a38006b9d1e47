// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is being done to a section, for base/doing.h.
#pragma once

#include "compiler/sections/section.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace tandem {

// "enforcing section 'f' (a.c:3)".
inline std::string told(std::string_view doing, const Section &section) {
  return fmt::format("{} section '{}' ({}:{})", doing, section.name, section.file, section.line);
}

} // namespace tandem
