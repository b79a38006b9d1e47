// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/flask/flask_plus.h"
#include "machine/simulation/entry.h"
#include "machine/simulation/protocols.h"

namespace tandem::machine::simulation {

ProtocolEntry flask_plus() { return entry<FlaskPlus>(); }

} // namespace tandem::machine::simulation
