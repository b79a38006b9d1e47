// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The configurations of src/machine/configurations, inside the library.
#pragma once

#include <span>

namespace tandem::machine {

struct BuiltinConfiguration {
  const char *name;
  const char *text;
};

std::span<const BuiltinConfiguration> builtin_configurations();

} // namespace tandem::machine
