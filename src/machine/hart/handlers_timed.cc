// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The handlers of harts whose caches are simulated: what is not in an L1 ends the burst.
#define TANDEM_TIMED 1
#define TANDEM_HANDLERS kTimedHandlers
#include "machine/hart/handlers.inc"
