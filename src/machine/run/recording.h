// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Console input with the cycles at which it came, as a file (docs/formats/machine-console.md).
#pragma once

#include "base/result.h"
#include "machine/event/wheel.h"

#include <string>
#include <string_view>
#include <vector>

namespace tandem::machine {

struct Typed {
  Cycle at = 0;
  std::string text;
  bool operator==(const Typed &) const = default;
};

// A line for each, after a first one that names the format.
std::string to_text(const std::vector<Typed> &typed);

// Error: `PATH:LINE: what is wrong`.
Result<std::vector<Typed>> parse_typed(const std::string &path, std::string_view text);

} // namespace tandem::machine
