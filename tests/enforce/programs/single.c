// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// single THREADS ROUNDS: a section that is one instruction, in every thread ROUNDS times. Status 0:
// none was lost.
#include <pthread.h>
#include <stdlib.h>
#include <tandem/tandem.h>

static long count;
static int rounds;

TANDEM_ATOMIC static void one(void) { ++count; }

static void *worker(void *argument) {
  for (int i = 0; i < rounds; ++i)
    one();
  return argument;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const int threads = atoi(argv[1]);
  rounds = atoi(argv[2]);
  pthread_t handles[64];
  for (int i = 0; i < threads; ++i)
    pthread_create(&handles[i], NULL, worker, NULL);
  for (int i = 0; i < threads; ++i)
    pthread_join(handles[i], NULL);
  return count != (long)threads * rounds;
}
