// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parsers of what users hand to Tandem, each as a function that takes any bytes. A target ends
// the process (CHECK, a sanitizer, a crash) where a parser does what it must not: also where a
// mistake is not one printable line.
#pragma once

#include <span>
#include <string_view>

namespace tandem::fuzz {

struct Target {
  std::string_view name; // of its folder in corpus/, too
  void (*run)(std::string_view input);
};

std::span<const Target> targets();

} // namespace tandem::fuzz
