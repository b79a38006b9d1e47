// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/flask/flask_plus.h"

#include "machine/prover/flask_cases.h"
#include "machine/prover/provers.h"

namespace tandem::machine {

Prover flask_plus_prover() { return make_flask_prover<FlaskPlus>(); }

} // namespace tandem::machine
