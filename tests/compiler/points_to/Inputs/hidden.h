// Sections `mine`, which touches x by its name, and `theirs`, which touches it by the pointer that
// found() returns after hide(&x) has hidden it; `apart` touches what neither does.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ROUNDS
#define ROUNDS 3
#endif
#ifndef ALIGNED
#define ALIGNED 8
#endif
static alignas(ALIGNED) long x[ALIGNED / 8];
static long alone;
static void hide(long *p);
static long *found(void);

#define BUMP(place)                                                                                \
  do {                                                                                             \
    long before = (place);                                                                         \
    for (volatile int i = 0; i < 20; ++i)                                                          \
      ;                                                                                            \
    (place) = before + 1;                                                                          \
  } while (0)
__attribute__((atomic, noinline)) void mine(void) { BUMP(x[0]); }
__attribute__((atomic, noinline)) void theirs(long *p) { BUMP(*p); }
__attribute__((atomic, noinline)) void apart(void) { BUMP(alone); }
static void *run(void *unused) {
  long *p = found();
  for (int i = 0; i < ROUNDS; ++i) {
    theirs(p);
    apart();
  }
  return unused;
}
int main(void) {
  hide(x);
  pthread_t other;
  pthread_create(&other, NULL, run, NULL);
  for (int i = 0; i < ROUNDS; ++i) {
    mine();
    apart();
  }
  pthread_join(other, NULL);
  printf("%ld of %d\n", *x, 2 * ROUNDS);
  return *x != 2 * ROUNDS;
}
