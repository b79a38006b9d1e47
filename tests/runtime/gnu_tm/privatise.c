/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Privatisation and publication. A list is taken out of what is shared by a transaction, then
 * changed by plain accesses and unmapped, while other threads' transactions may still be looking at
 * it; then it is put back. Also by proxy: the thread that uses the data plainly has only read that
 * another one took it out. */
#include "check.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { CELLS = 64, READERS = 3 };
static long rounds = 400; /* the first argument */

struct block {
  long cells[CELLS]; /* all equal whenever the block is shared */
};

static struct block *shared;
static long taken; /* number of the block that was taken last */
static long finished;
static int stop;
static long bad;

static struct block *make(long value) {
  struct block *block =
      mmap(NULL, sizeof *block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(block != MAP_FAILED);
  for (int i = 0; i < CELLS; ++i)
    block->cells[i] = value;
  return block;
}

static int stopped(void) {
  int result;
  __transaction_atomic { result = stop; }
  return result;
}

/* Transactions that read and write whole blocks; of every other thread each comes after one that
 * has read nothing, as an algorithm may go by what a thread's last one did. */
static void *use(void *argument) {
  long *note = argument;
  long wrong = 0;
  while (!stopped()) {
    int unequal = 0;
    if (note != NULL)
      __transaction_atomic { *note = 1; }
    __transaction_atomic {
      struct block *block = shared;
      if (block != NULL) {
        long first = block->cells[0];
        for (int i = 1; i < CELLS; ++i)
          unequal |= block->cells[i] != first;
        for (int i = 0; i < CELLS; ++i)
          block->cells[i] = first + 1;
      }
    }
    wrong += unequal;
  }
  __transaction_atomic { bad += wrong; }
  return argument;
}

/* Uses what the other thread took out, on the strength of a read-only transaction. */
static struct block *handed;
static void *proxy(void *argument) {
  long seen = 0;
  for (;;) {
    long number;
    struct block *block;
    __transaction_atomic {
      number = taken;
      block = handed;
    }
    if (number < 0)
      return argument;
    if (number == seen)
      continue;
    seen = number;
    /* Plain accesses from here on: nobody else may touch it. */
    long value = block->cells[0];
    for (int i = 0; i < CELLS; ++i)
      if (block->cells[i] != value)
        EXPECT(!"a transaction's unfinished write is seen in private data");
    memset(block, 0x55, sizeof *block);
    for (int i = 0; i < 200; ++i)
      __asm__ volatile("pause");
    for (int i = 0; i < CELLS; ++i)
      if (block->cells[i] != 0x5555555555555555)
        EXPECT(!"a transaction wrote to private data");
    EXPECT(munmap(block, sizeof *block) == 0);
    __transaction_atomic { finished = number; }
  }
}

int main(int argc, char **argv) {
  if (argc > 1)
    rounds = atol(argv[1]);
  pthread_t threads[READERS + 1];
  static long notes[READERS];
  shared = make(1);
  for (int i = 0; i < READERS; ++i)
    EXPECT(pthread_create(&threads[i], NULL, use, i % 2 == 0 ? &notes[i] : NULL) == 0);
  EXPECT(pthread_create(&threads[READERS], NULL, proxy, NULL) == 0);
  for (long round = 1; round <= rounds; ++round) {
    struct block *fresh = make(round);
    __transaction_atomic {
      handed = shared;
      taken = round;
      shared = NULL;
    }
    long done;
    do {
      __transaction_atomic { done = finished; }
    } while (done != round);
    __transaction_atomic { shared = fresh; } /* publication: written plainly, before */
  }
  __transaction_atomic {
    stop = 1;
    taken = -1;
  }
  for (int i = 0; i <= READERS; ++i)
    pthread_join(threads[i], NULL);
  EXPECT(bad == 0);
  return 0;
}
