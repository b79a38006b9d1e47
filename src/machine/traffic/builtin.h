// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stand-ins of src/machine/traffic/stand_ins, inside the library.
#pragma once

#include <span>

namespace tandem::machine {

struct BuiltinProfile {
  const char *name; // of the file, with .toml
  const char *text;
};

std::span<const BuiltinProfile> builtin_profiles();

} // namespace tandem::machine
