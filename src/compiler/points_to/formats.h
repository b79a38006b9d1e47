// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formats of printf and scanf: what each argument behind the format is.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tandem {

struct FormatConversion {
  // A number (integers, floating point, %p) or a text (%s), as bytes in the text that is made or
  // read.
  bool is_text = false;
  std::uint64_t size = 0; // scanf: bytes that are stored; ~0: unknown
};

// One for each argument, in order; none where that is not known: positions (%1$d), letters that C
// does not have, and scanf's allocated texts (%ms).
std::optional<std::vector<FormatConversion>> printf_conversions(llvm::StringRef format);
std::optional<std::vector<FormatConversion>> scanf_conversions(llvm::StringRef format);

} // namespace tandem
