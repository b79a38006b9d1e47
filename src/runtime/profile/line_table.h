// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The line number programs of .debug_line.
#pragma once

#include "runtime/profile/symbols.h"

#include <cstddef>
#include <cstdint>

namespace tandem::profile {

struct Span {
  const std::uint8_t *start = nullptr;
  std::size_t size = 0;
};

struct LineSections {
  Span lines;        // .debug_line
  Span strings;      // .debug_str
  Span line_strings; // .debug_line_str
};

// File and line of the code places between begin and end, which are sorted and belong to the module
// that is loaded `base` bytes above its own addresses. What cannot be read is skipped.
void find_lines(const LineSections &sections, std::uint64_t base, Place *begin,
                Place *end) noexcept;

} // namespace tandem::profile
