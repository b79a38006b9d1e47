// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects from a pool of the program's own; with an argument, one that went back is still used.
#include <pthread.h>
#include <stdlib.h>

struct cell {
  struct cell *next;
  long value;
};
static struct cell *pool;
static struct cell *shared, *stale;
static pthread_barrier_t turn;

static struct cell *take(void) {
  struct cell *taken = pool;
  if (taken == NULL)
    return malloc(sizeof *taken);
  pool = taken->next;
  return taken;
}

static void give_back(struct cell *cell) {
  cell->next = pool;
  pool = cell;
}

__attribute__((atomic)) static void replace(void) {
  if (shared != NULL)
    give_back(shared);
  shared = take();
  shared->value = 0;
}

__attribute__((atomic)) static void bump(void) { ++shared->value; }

__attribute__((atomic)) static void drop(void) {
  stale = take();
  give_back(stale);
}

__attribute__((atomic)) static void misuse(void) { ++stale->value; }

static void *run(void *misuses) {
  for (int i = 0; i < 100; ++i) {
    replace();
    bump();
    if (misuses == NULL)
      continue;
    // However busy the machine is: one gives the cell back, then both use it.
    if (pthread_barrier_wait(&turn) == PTHREAD_BARRIER_SERIAL_THREAD)
      drop();
    pthread_barrier_wait(&turn);
    misuse();
    pthread_barrier_wait(&turn);
  }
  return NULL;
}

int main(int argc, char **argv) {
  (void)argv;
  pthread_t threads[2];
  pthread_barrier_init(&turn, NULL, 2);
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, run, argc > 1 ? &pool : NULL);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  return 0;
}
