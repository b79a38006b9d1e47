/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Loaded and unloaded by process.c: an output of its own that shares the process's colour. */
#include "output.h"

void plugin_step(uint64_t *pair) {
  run(&hybrid, pair);
  _TANDEM_colours_enter(&exclusive);
  ++pair[0];
  ++pair[1];
  _TANDEM_colours_leave(&exclusive);
}
