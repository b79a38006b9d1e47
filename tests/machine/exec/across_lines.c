// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores and loads across two lines, of which another thread keeps taking the second; a handler
// that comes between the two parts does the same to the same place. Neither sees the other's parts.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/time.h>

static _Alignas(64) unsigned char bytes[128];
static uint64_t *const across = (uint64_t *)(bytes + 60);
static atomic_uint *const taken = (atomic_uint *)(bytes + 100);
static atomic_bool over;
static volatile sig_atomic_t handled;
static volatile sig_atomic_t wrong;
static volatile uint64_t expected;

static inline void put(uint64_t value) {
  __asm__ volatile("sd %0, 0(%1)" ::"r"(value), "r"(across) : "memory");
}
static inline uint64_t get(void) {
  uint64_t value;
  __asm__ volatile("ld %0, 0(%1)" : "=r"(value) : "r"(across) : "memory");
  return value;
}

static void handler(int number) {
  (void)number;
  const uint64_t mine = 0x1111111111111111 * (1 + handled % 7);
  put(mine);
  if (get() != mine)
    wrong = 1;
  put(expected);
  ++handled;
}

static void *take(void *none) {
  while (!over)
    atomic_fetch_add(taken, 1);
  return none;
}

int main(void) {
  pthread_t other;
  pthread_create(&other, 0, take, 0);
  signal(SIGALRM, handler);
  const struct itimerval often = {{0, 7}, {0, 7}};
  setitimer(ITIMER_REAL, &often, 0);
  uint64_t value = 0;
  while (handled < 400) {
    value += 0x0102030405060709;
    expected = value;
    put(value);
    if (get() != value)
      wrong |= 2;
  }
  over = 1;
  pthread_join(other, 0);
  printf("%d wrong\n", (int)wrong);
  return 0;
}
