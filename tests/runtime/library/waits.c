// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A condition variable whose mutex became a section, in a program that does not ask for
// transactions to be undone.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <tandem/tandem.h>

enum { THREADS = 4, ROUNDS = 50 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; // nobody locks it
static pthread_cond_t gate = PTHREAD_COND_INITIALIZER;
static int arrived, opened;

TANDEM_ATOMIC static void pass(int round) {
  ++arrived; // permanent before the wait
  while (opened < round)
    pthread_cond_wait(&gate, &mutex);
}

TANDEM_ATOMIC static int open_gate(int round) {
  if (arrived < round * THREADS)
    return 0;
  opened = round;
  pthread_cond_broadcast(&gate);
  return 1;
}

static void *work(void *unused) {
  for (int round = 1; round <= ROUNDS; ++round)
    pass(round);
  return unused;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int round = 1; round <= ROUNDS; ++round)
    while (!open_gate(round))
      sched_yield();
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  printf("arrived %d opened %d\n", arrived, opened);
  return 0;
}
