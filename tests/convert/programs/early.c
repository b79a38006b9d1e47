// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many exits: returns, a goto and a break out of the region, one of them out of a loop in it.
#include "threads.h"

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static long table[8];
static long full, found, added;

// 0: it was there; 1: it was put there; -1: there is no room.
static int put(long value) {
  pthread_mutex_lock(&table_lock);
  for (unsigned i = 0; i < 8; ++i) {
    if (table[i] == value) {
      ++found;
      pthread_mutex_unlock(&table_lock);
      return 0;
    }
    if (table[i] == 0) {
      table[i] = value;
      goto out;
    }
  }
  ++full;
  for (unsigned i = 0; i < 8; ++i)
    table[i] = 0;
  pthread_mutex_unlock(&table_lock);
  return -1;
out:
  ++added;
  pthread_mutex_unlock(&table_lock);
  return 1;
}

static void work(unsigned thread) {
  for (long i = 0; i < kRounds; ++i)
    put(1 + (i * 7 + thread) % 11);
}

int main(int argc, char **argv) {
  const long n = run(argc, argv, work);
  long there = 0;
  for (unsigned i = 0; i < 8; ++i)
    there += table[i] != 0;
  return expect("calls", full + found + added, kRounds * n) +
         expect("added", added, full * 8 + there);
}
