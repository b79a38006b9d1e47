/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * For `tandem machine run --program`: the input is prepared through the caches, which warms them,
 * and the parallel region is measured.
 */
#include "lib/harness.h"

#include "tandem/machine.h"

__attribute__((constructor)) static void prepare_warm(void) { TANDEM_MACHINE_WARMING(); }

void stamp_measure_begin(void) { TANDEM_MACHINE_TIMING(); }

void stamp_measure_end(void) { TANDEM_MACHINE_FUNCTIONAL(); }
