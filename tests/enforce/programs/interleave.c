// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interleave.h"

#include <time.h>

static _Thread_local unsigned long calls;
static _Thread_local unsigned long state;

static void let_others_run(void) {
  const struct timespec moment = {0, 1000};
  nanosleep(&moment, NULL);
}

void interleave(void) {
  if (state == 0)
    state = (unsigned long)&state; // another address, another sequence
  ++calls;
  state = state * 6364136223846793005ul + 1442695040888963407ul;
  if (state >> 58 == 0) // one call in 64
    let_others_run();
}

void interleave_for_sure(void) {
  ++calls;
  let_others_run();
}

unsigned long interleaved(void) { return calls; }
