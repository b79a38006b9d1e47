// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each account has a lock that guards its own fields, and stays apart: sections that are short and
// ones that are not, alone and in sections of another lock, and in one that cannot be undone.
#include "threads.h"
#include <unistd.h>

enum { kAccounts = 4 };
struct account {
  pthread_mutex_t own;
  long left, right; // their sum stays 0
  long history[16];
  unsigned moves;
} accounts[kAccounts];
static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static long transfers;

static void move(struct account *account, long by) {
  pthread_mutex_lock(&account->own);
  account->left += by;
  account->right -= by;
  pthread_mutex_unlock(&account->own);
}

// Usually as short.
static int move_if(struct account *account, long limit) {
  pthread_mutex_lock(&account->own);
  account->left += 1;
  if (__builtin_expect(account->moves++ % 64 == 63, 0))
    for (int i = 0; i < 16; ++i)
      account->history[i] = account->left;
  account->right -= 1;
  const int below = account->left < limit;
  pthread_mutex_unlock(&account->own);
  return below;
}

// Two of them, nested in a section of another lock.
static void transfer(struct account *from, struct account *to) {
  pthread_mutex_lock(&all);
  ++transfers;
  pthread_mutex_lock(&from->own);
  from->left -= 5;
  from->right += 5;
  pthread_mutex_unlock(&from->own);
  pthread_mutex_lock(&to->own);
  to->left += 5;
  to->right -= 5;
  pthread_mutex_unlock(&to->own);
  pthread_mutex_unlock(&all);
}

static long sum(int say) {
  long sum = 0;
  for (int i = 0; i < kAccounts; ++i) {
    struct account *account = &accounts[i];
    pthread_mutex_lock(&account->own);
    if (account->left != -account->right)
      abort();
    sum += account->left;
    if (say && write(STDERR_FILENO, "", 0) != 0)
      abort();
    if (account->left != -account->right)
      abort();
    pthread_mutex_unlock(&account->own);
  }
  return sum;
}

static void work(unsigned thread) {
  for (unsigned i = 0; i < kRounds; ++i) {
    move(&accounts[(i + thread) % kAccounts], 2);
    move_if(&accounts[i % kAccounts], 100);
    if (i % 8 == 0)
      transfer(&accounts[i / 8 % kAccounts], &accounts[(i / 8 + thread) % kAccounts]);
    if (i % 64 == 1)
      sum(i % 512 == 1);
  }
}

int main(int argc, char **argv) {
  for (int i = 0; i < kAccounts; ++i)
    pthread_mutex_init(&accounts[i].own, NULL);
  const long threads = run(argc, argv, work);
  return expect("sum", sum(0), threads * kRounds * 3) |
         expect("transfers", transfers, threads * kRounds / 8);
}
