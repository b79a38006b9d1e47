// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/token_b/token_b.h"
#include "machine/simulation/entry.h"
#include "machine/simulation/protocols.h"

namespace tandem::machine::simulation {

ProtocolEntry token_b() { return entry<TokenB>(); }

} // namespace tandem::machine::simulation
