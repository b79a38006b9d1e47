// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The handlers of harts without time.
#define TANDEM_TIMED 0
#define TANDEM_HANDLERS kPlainHandlers
#include "machine/hart/handlers.inc"
