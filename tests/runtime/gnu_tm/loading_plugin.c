/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Loaded by loading.c: linked lazily, it calls functions of a library in a transaction, and waits
 * for a thread with transactions while it is loaded.
 */
#include "check.h"

#include <string.h>

static long calls;
static char text[64];

static void *work(void *argument) {
  for (int i = 0; i < 10; ++i)
    __transaction_atomic { ++calls; }
  __transaction_relaxed { strcpy(text, "by the dynamic linker"); }
  return argument;
}

__attribute__((constructor)) static void prepare(void) {
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, work, NULL) == 0);
  EXPECT(pthread_join(thread, NULL) == 0);
}
