#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 20000 };

static long count;
static long twice;

__attribute__((atomic, noinline)) static void step(void) {
  ++count;
  twice = 2 * count;
}

__attribute__((atomic, noinline)) static int torn(void) { return twice != 2 * count; }

static void *work(void *wrong) {
  for (int i = 0; i < ROUNDS; ++i) {
    step();
    *(int *)wrong |= torn();
  }
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  int wrong[THREADS] = {0};
  for (int i = 0; i < THREADS; ++i)
    if (pthread_create(&threads[i], NULL, work, &wrong[i]) != 0)
      return 1;
  int any = 0;
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i], NULL);
    any |= wrong[i];
  }
  printf("count %ld twice %ld torn %d\n", count, twice, any);
  return 0;
}
