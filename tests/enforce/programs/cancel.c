// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cancel THREADS ROUNDS: functions and blocks that cancel themselves, alone and nested, and
// whatever they had written, allocated and promised by then. Status 0: each was undone as a whole,
// went on where it should, and nothing of the others was lost.
#include "interleave.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tandem/tandem.h>
#include <tandem/transaction.h>

struct item {
  long value;
  struct item *next;
};

static long total, mirror; // equal outside of sections
static unsigned char bytes[64];
static struct item *stack;
static long pushed;
static long told, undone; // by actions, under the lock
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void count(void *where) {
  pthread_mutex_lock(&lock);
  ++*(long *)where;
  pthread_mutex_unlock(&lock);
}

static void give_up(int now) {
  if (now)
    tandem_cancel();
}

// 1, or 0 where it was cancelled in the middle of its work.
TANDEM_ATOMIC static int add(long amount, int cancel) {
  total += amount;
  memset(bytes, (int)amount, sizeof bytes);
  struct item *item = malloc(sizeof *item);
  *item = (struct item){amount, stack};
  stack = item;
  interleave();
  tandem_on_commit(count, &told, 0);
  tandem_on_abort(count, &undone, 0);
  give_up(cancel);
  mirror += amount;
  pushed += amount;
  return 1;
}

static long ways_past(int round) {
  long astray = 0;
  long local = 7;
  tandem_atomic {
    total += 1000;
    local = 8;
    if (round % 2 == 0)
      tandem_cancel();
    mirror += 1000;
  }
  astray += local != (round % 2 == 0 ? 7 : 8);
  tandem_atomic { // no way to its end but the cancelled one
    total += 1;
    give_up(round % 3 == 0);
    total -= 1;
    return astray + (round % 3 == 0);
  }
  return astray + (round % 3 != 0);
}

static long loops(int round) {
  long passed = 0;
  for (int i = 0; i < 4; ++i) {
    tandem_atomic {
      total += 5;
      mirror += 5;
      if (i == round % 4)
        tandem_cancel();
      total -= 5;
      mirror -= 5;
      if (i == 3)
        break;
      continue;
    }
    passed += 1 << i; // only where it was cancelled
  }
  return passed != 1 << round % 4;
}

// The inner one is undone, the outer one is not.
static long inner(int round) {
  long astray = 0;
  long seen = 0;
  tandem_atomic {
    total += 3;
    long before = total;
    tandem_atomic {
      total += 100;
      seen = total;
      give_up(round % 2);
      total -= 100;
    }
    astray += total != before || (round % 2 && seen != 0);
    astray += add(2, round % 3 == 0) != (round % 3 != 0);
    mirror += 3;
  }
  return astray;
}

TANDEM_ATOMIC static long deepest(int all) {
  total += 50;
  if (all)
    tandem_cancel_all();
  tandem_cancel();
}
static long everything(int round) {
  long after = 0;
  tandem_atomic {
    total += 11;
    mirror += 11;
    deepest(round % 2);
    after = 1;
  }
  return after != (round % 2 == 0);
}

// By pointer, out of a section that cannot be undone itself.
static int (*volatile by_pointer)(long, int) = add;
static long irrevocable(int round) {
  long astray = 0;
  tandem_atomic {
    total += 4;
    if (round % 8 == 0)
      fflush(stderr);
    astray += by_pointer(6, round % 2) != (round % 2 == 0);
    mirror += 4;
  }
  return astray;
}

// Some executions come to what cannot be undone, after the place where others are cancelled.
TANDEM_ATOMIC static int reaches(int cancel, int flush) {
  total += 30;
  interleave();
  if (cancel)
    tandem_cancel();
  if (flush)
    fflush(stderr);
  mirror += 30;
  return 1;
}

TANDEM_ATOMIC static long state(void) {
  long uniform = 1;
  for (size_t i = 1; i < sizeof bytes; ++i)
    uniform = uniform && bytes[i] == bytes[0];
  return uniform && total == mirror ? 0 : 1;
}

static int threads, rounds;
static pthread_barrier_t start;

static void *worker(void *argument) {
  const int id = (int)(long)argument;
  long astray = 0;
  pthread_barrier_wait(&start);
  for (int i = id; i < id + rounds; ++i) {
    astray += add(i % 9, i % 2) != (i % 2 == 0);
    astray += ways_past(i) + loops(i) + inner(i) + everything(i) + irrevocable(i) + state();
    astray += reaches(i % 2, i % 5 == 0) != (i % 2 == 0);
  }
  return (void *)astray;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  threads = atoi(argv[1]);
  rounds = atoi(argv[2]);
  pthread_t handles[64];
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (long i = 0; i < threads; ++i)
    pthread_create(&handles[i], NULL, worker, (void *)i);
  long astray = 0;
  for (int i = 0; i < threads; ++i) {
    void *one;
    pthread_join(handles[i], &one);
    astray += (long)one;
  }
  long expected_total = 0, expected_pushed = 0, expected_told = 0, expected_undone = 0;
  for (long id = 0; id < threads; ++id)
    for (long i = id; i < id + rounds; ++i) {
      const long direct = i % 2 == 0 ? i % 9 : 0;
      const long nested = i % 3 != 0 ? 2 : 0;
      const long pointed = i % 2 == 0 ? 6 : 0;
      expected_pushed += direct + nested + pointed;
      expected_total +=
          direct + nested + pointed + 3 + 4 + (i % 2 ? 1000 : 0) + (i % 2 == 0 ? 11 + 30 : 0);
      const long done = (i % 2 == 0) + (i % 3 != 0) + (i % 2 == 0);
      expected_told += done;
      expected_undone += 3 - done;
    }
  long listed = 0;
  for (const struct item *item = stack; item != NULL; item = item->next)
    listed += item->value;
  printf("astray %ld, total %ld of %ld, mirror %ld, pushed %ld and %ld of %ld, told %ld of %ld, "
         "undone %ld, at least %ld\n",
         astray, total, expected_total, mirror, pushed, listed, expected_pushed, told,
         expected_told, undone, expected_undone);
  return astray != 0 || total != expected_total || mirror != total || pushed != expected_pushed ||
         listed != pushed || told != expected_told || undone < expected_undone;
}
