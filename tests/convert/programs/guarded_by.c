// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each account has a lock that guards its data: sections that are short and ones that are not,
// alone, in sections of another lock, around one, beside others; tried; and in one that cannot be
// undone.
#include "threads.h"
#include <unistd.h>

enum { kAccounts = 8 };
struct account {
  pthread_mutex_t own;
  long left, right; // their sum stays 0
  long history[16];
  unsigned moves;
} accounts[kAccounts];
static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER; // acquired last
static long before, after;                                // all guards them
static long inside;                                       // inner does
static long moved;                                        // of all threads, at the end

static void move_by(struct account *account, long by) {
  account->left += by;
  account->right -= by;
}
static void own(struct account *account) { pthread_mutex_lock(&account->own); }
static void disown(struct account *account) { pthread_mutex_unlock(&account->own); }

static void move(struct account *account) {
  pthread_mutex_lock(&account->own);
  move_by(account, 1);
  pthread_mutex_unlock(&account->own);
}
// Usually as short.
static int move_if(struct account *account, long limit) {
  own(account);
  account->left += 1;
  if (__builtin_expect(account->moves++ % 64 == 63, 0))
    for (int i = 0; i < 16; ++i)
      account->history[i] = account->left;
  account->right -= 1;
  const int below = account->left < limit;
  disown(account);
  return below;
}
struct copy {
  long words[8];
};
static long by_value(struct copy copy, struct account *account) {
  own(account);
  copy.words[0] = account->left;
  move_by(account, 1);
  if (__builtin_expect(copy.words[1] % 16 == 15, 0))
    for (int i = 0; i < 8; ++i)
      copy.words[i] += account->left;
  disown(account);
  return copy.words[0] + copy.words[3];
}
static void move_all(void) {
  for (int i = 0; i < kAccounts; ++i) {
    pthread_mutex_lock(&accounts[i].own);
    move_by(&accounts[i], 1);
    pthread_mutex_unlock(&accounts[i].own);
  }
}
static void two(struct account *one, struct account *other) {
  if (one >= other)
    return move_all();
  own(one);
  move_by(one, 1);
  own(other);
  move_by(other, 1);
  disown(other);
  disown(one);
}
// In another lock's section: before, behind what that guards; around it; only now and then.
static void first(struct account *account) {
  pthread_mutex_lock(&all);
  ++before;
  own(account);
  move_by(account, 1);
  disown(account);
  pthread_mutex_unlock(&all);
}
static void last(struct account *account) {
  pthread_mutex_lock(&all);
  own(account);
  move_by(account, 1);
  disown(account);
  ++after;
  pthread_mutex_unlock(&all);
}
static void around(struct account *account) {
  own(account);
  move_by(account, 1);
  pthread_mutex_lock(&inner);
  ++inside;
  pthread_mutex_unlock(&inner);
  disown(account);
}
static void rarely(struct account *account, unsigned i) {
  pthread_mutex_lock(&all);
  ++after;
  if (__builtin_expect(i % 100 == 0, 0)) {
    own(account);
    move_by(account, 1);
    disown(account);
  }
  pthread_mutex_unlock(&all);
}
static void hand_over(struct account *account) {
  pthread_mutex_lock(&all);
  ++before;
  own(account);
  pthread_mutex_unlock(&all);
  move_by(account, 1);
  disown(account);
}
static void count(void) {
  pthread_mutex_lock(&all);
  ++before;
  ++after;
  pthread_mutex_lock(&inner);
  ++inside;
  pthread_mutex_unlock(&inner);
  pthread_mutex_unlock(&all);
}
// Sections of another lock that call one of such a lock before they touch anything.
__attribute__((noinline)) static void move_far(struct account *account) { move(account); }
static void calls_first(struct account *account) {
  pthread_mutex_lock(&all);
  move_far(account);
  const long was = before;
  before = was + 1;
  ++after;
  pthread_mutex_unlock(&all);
}
static void calls_first_here(struct account *account) {
  pthread_mutex_lock(&all);
  move(account);
  ++before;
  ++after;
  pthread_mutex_unlock(&all);
}
// Result: whether it was free; by the thread itself it is not.
static int try_move(struct account *account) {
  if (pthread_mutex_trylock(&account->own) != 0)
    return 0;
  if (pthread_mutex_trylock(&account->own) == 0)
    abort();
  move_by(account, 1);
  pthread_mutex_unlock(&account->own);
  return 1;
}

static void check(int say) {
  for (int i = 0; i < kAccounts; ++i) {
    struct account *account = &accounts[i];
    pthread_mutex_lock(&account->own);
    if (account->left != -account->right)
      abort();
    if (say && write(STDERR_FILENO, "", 0) != 0)
      abort();
    if (account->left != -account->right)
      abort();
    pthread_mutex_unlock(&account->own);
  }
}

static void work(unsigned thread) {
  struct copy copy = {{0}};
  long mine = 0;
  for (unsigned i = 0; i < kRounds; ++i) {
    struct account *account = &accounts[(i + thread) % kAccounts];
    copy.words[1] = i;
    move(account);
    move_if(account, 100);
    by_value(copy, account);
    two(account, &accounts[(i + thread + 1) % kAccounts]);
    first(account);
    last(account);
    around(account);
    hand_over(account);
    rarely(account, i);
    count();
    calls_first(account);
    calls_first_here(account);
    mine += 9 + (account == &accounts[kAccounts - 1] ? kAccounts : 2) + (i % 100 == 0) +
            try_move(account);
    if (i % 8 == 0) {
      move_all();
      mine += kAccounts;
    }
    if (i % 64 == 1)
      check(i % 512 == 1);
  }
  __atomic_add_fetch(&moved, mine, __ATOMIC_RELAXED);
}

int main(int argc, char **argv) {
  for (int i = 0; i < kAccounts; ++i)
    pthread_mutex_init(&accounts[i].own, NULL);
  const long threads = run(argc, argv, work);
  long sum = 0;
  for (int i = 0; i < kAccounts; ++i)
    sum += accounts[i].left;
  check(1);
  return expect("moved", sum, moved) | expect("before", before, threads * kRounds * 5) |
         expect("after", after, threads * kRounds * 5) |
         expect("inside", inside, threads * kRounds * 2);
}
