/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A library whose constructor waits for a thread that runs the process's first transaction, while
 * the dynamic linker's locks are held.
 */
#include <pthread.h>
#include <stddef.h>

void run_first(void); /* of first.c */

static void *run(void *unused) {
  run_first();
  return unused;
}

__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, NULL) == 0)
    pthread_join(thread, NULL);
}
