// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library's own interface in sections that tandem-cc compiles: a bounded queue whose users
// sleep until they can go on, commit functions, commutative counters, explicit accesses, a plain
// function on copies; and a condition variable whose mutex became a section.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <tandem/library.h>
#include <tandem/tandem.h>
#include <tandem/transaction.h>

enum { PLACES = 4, ITEMS = 4000, SIDES = 2 };

static long queue[PLACES];
static unsigned head, tail; // taken, put
static struct tandem_condition not_empty;
static uint64_t passed;
static long told; // by commit functions; atomic
static _Thread_local long wanted;

static void tell(void *by) { __atomic_add_fetch(&told, *(long *)by, __ATOMIC_RELAXED); }

TANDEM_ATOMIC static void put(long item) {
  if (tail - head == PLACES)
    tandem_retry();
  queue[tail % PLACES] = item;
  ++tail;
  tandem_signal(&not_empty);
}

TANDEM_ATOMIC static long take(void) {
  if (head == tail)
    tandem_wait(&not_empty);
  long item = queue[head % PLACES];
  ++head;
  tandem_counter_add_u64(&passed, 1);
  tandem_on_commit(tell, &item, sizeof item);
  return item;
}

// Nobody locks the mutex.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate = PTHREAD_COND_INITIALIZER;
static int arrived, open_gate;

TANDEM_ATOMIC static void wait_for_all(void) {
  ++arrived; // permanent before the wait
  while (!open_gate)
    pthread_cond_wait(&gate, &mutex);
}

TANDEM_ATOMIC static int open_for_all(void) {
  if (arrived < 2 * SIDES)
    return 0;
  open_gate = 1;
  pthread_cond_broadcast(&gate);
  return 1;
}

static void *producer(void *unused) {
  (void)unused;
  wait_for_all();
  for (long i = 1; i <= ITEMS; ++i)
    put(i);
  return NULL;
}

static void *consumer(void *unused) {
  (void)unused;
  wait_for_all();
  for (int i = 0; i < ITEMS; ++i)
    wanted += take();
  return (void *)wanted;
}

TANDEM_ATOMIC static uint64_t twice(uint64_t *place) {
  tandem_write_u64(place, tandem_read_u64(place) * 2);
  uint64_t *copy = tandem_malloc(sizeof *copy);
  *copy = tandem_read_u64(place);
  uint64_t value = *copy;
  tandem_free(copy);
  return value;
}

// Not compiled as transactional code, as a function with assembly in it.
static void halve(void *const *memory) {
  const uint64_t *from = memory[0];
  uint64_t *to = memory[1];
  __asm__("shrq $1, %0" : "=r"(*to) : "0"(*from) : "cc");
}

TANDEM_ATOMIC static uint64_t half(uint64_t *place) {
  uint64_t result = 0;
  *place += 2;
  struct tandem_argument arguments[] = {{place, sizeof *place, TANDEM_IN},
                                        {&result, sizeof result, TANDEM_OUT}};
  tandem_marshal(halve, arguments, 2);
  return result;
}

int main(void) {
  pthread_t threads[2 * SIDES];
  uint64_t place = 21;
  uint64_t doubled = twice(&place); // while the process has one thread
  for (int i = 0; i < SIDES; ++i) {
    pthread_create(&threads[2 * i], NULL, producer, NULL);
    pthread_create(&threads[2 * i + 1], NULL, consumer, NULL);
  }
  uint64_t halved = half(&place);
  while (!open_for_all())
    sched_yield();
  long sum = 0;
  for (int i = 0; i < 2 * SIDES; ++i) {
    void *result;
    pthread_join(threads[i], &result);
    sum += (long)result;
  }
  long right = (long)SIDES * ITEMS * (ITEMS + 1) / 2;
  printf("sum %s told %s passed %d doubled %d halved %d\n", sum == right ? "right" : "wrong",
         told == right ? "right" : "wrong", (int)tandem_counter_get_u64(&passed), (int)doubled,
         (int)halved);
  return 0;
}
