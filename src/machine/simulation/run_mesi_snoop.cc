// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/mesi_snoop/mesi_snoop.h"
#include "machine/simulation/entry.h"
#include "machine/simulation/protocols.h"

namespace tandem::machine::simulation {

ProtocolEntry mesi_snoop() { return entry<MesiSnoop>(); }

} // namespace tandem::machine::simulation
