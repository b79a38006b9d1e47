// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function for each protocol, each in its own source file.
#pragma once

#include "machine/prover/prover.h"

namespace tandem::machine {

Prover flask_prover();
Prover flask_plus_prover();
Prover mesi_snoop_prover();
Prover mosaic_prover();
Prover sparse_directory_prover();
Prover token_b_prover();

} // namespace tandem::machine
