// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A readers' and writers' lock in a record: readers within readers, writers, and a reader that
// counts.
#include "threads.h"

enum { kEntries = 16, kTotal = 1600 };

struct table {
  pthread_rwlock_t lock;
  long entry[kEntries];
  long writes;
};

static struct table *table;
static long looked;
static long wrong;
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;

// Also called by who reads already.
static long entry_of(unsigned number) {
  long found;
  pthread_rwlock_rdlock(&table->lock);
  found = table->entry[number % kEntries];
  pthread_rwlock_unlock(&table->lock);
  return found;
}

static void count(long *counter) {
  pthread_mutex_lock(&count_lock);
  ++*counter;
  pthread_mutex_unlock(&count_lock);
}

static void look(void) {
  pthread_rwlock_rdlock(&table->lock);
  long sum = 0;
  for (unsigned i = 0; i < kEntries; ++i)
    sum += entry_of(i);
  count(&looked);
  if (sum != kTotal)
    count(&wrong);
  pthread_rwlock_unlock(&table->lock);
}

static void move(unsigned from, unsigned to) {
  pthread_rwlock_wrlock(&table->lock);
  --table->entry[from % kEntries];
  ++table->entry[to % kEntries];
  ++table->writes;
  pthread_rwlock_unlock(&table->lock);
}

static void work(unsigned thread) {
  unsigned random = thread * 2654435761U + 1;
  for (long i = 0; i < kRounds; ++i) {
    random = random * 1103515245U + 12345U;
    if ((random >> 28 & 3) == 0)
      look();
    else
      move(random >> 8, random >> 16);
  }
}

int main(int argc, char **argv) {
  table = calloc(1, sizeof *table);
  pthread_rwlock_init(&table->lock, NULL);
  for (unsigned i = 0; i < kEntries; ++i)
    table->entry[i] = kTotal / kEntries;
  const unsigned threads = run(argc, argv, work);
  long sum = 0;
  for (unsigned i = 0; i < kEntries; ++i)
    sum += entry_of(i);
  return expect("sum", sum, kTotal) | expect("wrong sums", wrong, 0) |
         expect("reads and writes", looked + table->writes, (long)threads * kRounds);
}
