// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/mosaic/mosaic.h"
#include "machine/simulation/entry.h"
#include "machine/simulation/protocols.h"

namespace tandem::machine::simulation {

ProtocolEntry mosaic() { return entry<Mosaic>(); }

} // namespace tandem::machine::simulation
