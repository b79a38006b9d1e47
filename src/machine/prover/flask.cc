// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/flask/flask.h"

#include "machine/prover/flask_cases.h"
#include "machine/prover/provers.h"

namespace tandem::machine {

Prover flask_prover() { return make_flask_prover<Flask>(); }

} // namespace tandem::machine
