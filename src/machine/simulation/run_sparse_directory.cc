// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/sparse_directory/sparse_directory.h"
#include "machine/simulation/entry.h"
#include "machine/simulation/protocols.h"

namespace tandem::machine::simulation {

ProtocolEntry sparse_directory() { return entry<SparseDirectory>(); }

} // namespace tandem::machine::simulation
