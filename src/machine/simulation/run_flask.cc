// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/flask/flask.h"
#include "machine/simulation/entry.h"
#include "machine/simulation/protocols.h"

namespace tandem::machine::simulation {

ProtocolEntry flask() { return entry<Flask>(); }

} // namespace tandem::machine::simulation
