// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The resolver of an IFUNC runs before the recorder is linked.
#include <pthread.h>

static volatile int model = 1;
static long sum;

static void add_one(void) { sum += 1; }
static void add_two(void) { sum += 2; }
static int chosen(void) { return model; }
static void (*choose(void))(void) { return chosen() != 0 ? add_two : add_one; }
void add(void) __attribute__((ifunc("choose")));

__attribute__((atomic)) static void change(void) { add(); }

static void *run(void *unused) {
  for (int i = 0; i < 200; i++)
    change();
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return sum != 800;
}
