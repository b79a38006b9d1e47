// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A protocol's prover by what the user typed.
#pragma once

#include "base/result.h"
#include "machine/prover/prover.h"

namespace tandem::machine_cli {

// Error: the names that there are, and the nearest.
Result<const machine::Prover *> prover_named(const std::string &name);

} // namespace tandem::machine_cli
