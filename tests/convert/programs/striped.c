// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locks in an array, behind wrappers, two of them held at once: transfers between accounts.
#include "threads.h"

enum { kAccounts = 64, kLocks = 8, kStart = 1000 };

static pthread_mutex_t account_locks[kLocks];
static long account[kAccounts];

static void account_lock(unsigned number) { pthread_mutex_lock(&account_locks[number % kLocks]); }

static void account_unlock(unsigned number) {
  pthread_mutex_unlock(&account_locks[number % kLocks]);
}

// Locks both in ascending order, one of them only once; unlocks in the order of locking.
static void transfer(unsigned from, unsigned to, long amount) {
  const unsigned first = from % kLocks < to % kLocks ? from : to;
  const unsigned second = first == from ? to : from;
  account_lock(first);
  if (first % kLocks != second % kLocks)
    account_lock(second);
  account[from] -= amount;
  account[to] += amount;
  account_unlock(first);
  if (first % kLocks != second % kLocks)
    account_unlock(second);
}

static void work(unsigned thread) {
  unsigned random = thread * 2654435761U + 1;
  for (long i = 0; i < kRounds; ++i) {
    random = random * 1103515245U + 12345U;
    transfer(random >> 8 & 63, random >> 16 & 63, 1);
  }
}

int main(int argc, char **argv) {
  for (unsigned i = 0; i < kLocks; ++i)
    pthread_mutex_init(&account_locks[i], NULL);
  for (unsigned i = 0; i < kAccounts; ++i)
    account[i] = kStart;
  run(argc, argv, work);
  long sum = 0;
  for (unsigned i = 0; i < kAccounts; ++i)
    sum += account[i];
  return expect("sum", sum, kAccounts * kStart);
}
