// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// short THREADS ROUNDS: sections that usually are a few accesses, and now and then more: a loop, a
// call, another section. Arguments by value, on the stack, and variable ones. Status 0: no section
// was lost, done twice or torn.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ATOMIC __attribute__((atomic))
enum { kAccounts = 3, kOften = 200 };

struct account {
  long balance;
  unsigned long moves : 40;
  unsigned long rare : 24;
  char pad[40];
  long opposite;
};
struct amounts {
  long words[6];
};

static struct account accounts[kAccounts];
static long audits, listed, dispatched;
static long wrong;

__attribute__((noinline)) static void audit(struct account *account) {
  for (int i = 0; i < 4; ++i)
    account->rare += i == 3;
  ++audits;
}

// A rare call in the middle of the stores.
ATOMIC static void move(struct account *account, long by) {
  account->balance += by;
  account->moves++;
  if (__builtin_expect(account->moves % 8 == 0, 0))
    audit(account);
  account->opposite -= by;
}

// The argument is in memory, and what is stored there decides what is stored elsewhere.
ATOMIC static void by_value(struct account *account, struct amounts amounts) {
  amounts.words[account->moves & 1] += 3;
  account->balance += amounts.words[0] + amounts.words[1];
  account->moves++;
  if (__builtin_expect(account->moves % 8 == 0, 0))
    audit(account);
  account->opposite -= amounts.words[0] + amounts.words[1];
}

ATOMIC static void list(int count, ...) {
  va_list arguments;
  va_start(arguments, count);
  listed += va_arg(arguments, long);
  va_end(arguments);
}

// A helper for another processor.
__attribute__((target("avx2"))) static void add_wide(long *to) { ++*to; }
ATOMIC static void dispatch(void) { add_wide(&dispatched); }

// Inside of it a section is a part of it, however short.
ATOMIC static void twice(struct account *account) {
  for (int i = 0; i < 2; ++i)
    move(account, 1);
}

ATOMIC static int is_torn(void) {
  int torn = 0;
  for (int i = 0; i < kAccounts; ++i)
    torn |= accounts[i].balance + accounts[i].opposite != 0;
  return torn;
}

static long rounds;

static void *work(void *argument) {
  const long self = (long)argument;
  for (long round = 0; round < rounds * kOften; ++round) {
    struct account *account = &accounts[(round + self) % kAccounts];
    move(account, round % 7);
    by_value(account, (struct amounts){{1, 1, 0, 0, 0, 0}});
    list(1, 2L);
    dispatch();
    if (round % 16 == 0)
      twice(account);
    if (round % 32 == 0 && is_torn())
      __atomic_store_n(&wrong, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 3)
    return 2;
  const long threads = atol(arguments[1]);
  rounds = atol(arguments[2]);
  pthread_t started[64];
  for (long i = 1; i < threads; ++i)
    pthread_create(&started[i], NULL, work, (void *)i);
  work(NULL);
  for (long i = 1; i < threads; ++i)
    pthread_join(started[i], NULL);
  const long each = rounds * kOften, all = threads * each;
  const long nested = 2 * threads * ((each + 15) / 16);
  long moves = 0, balance = 0, rare = 0, expected = 0;
  for (int i = 0; i < kAccounts; ++i) {
    moves += accounts[i].moves;
    balance += accounts[i].balance;
    rare += accounts[i].rare;
    wrong |= accounts[i].balance + accounts[i].opposite != 0;
  }
  for (long round = 0; round < each; ++round)
    expected += threads * (round % 7 + 5);
  expected += nested;
  if (wrong || moves != 2 * all + nested || balance != expected || rare != audits ||
      listed != 2 * all || dispatched != all) {
    printf(
        "wrong %ld moves %ld of %ld balance %ld of %ld rare %ld of %ld listed %ld dispatched %ld\n",
        wrong, moves, 2 * all + nested, balance, expected, rare, audits, listed, dispatched);
    return 1;
  }
  return 0;
}
