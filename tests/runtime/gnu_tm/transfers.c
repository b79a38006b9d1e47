/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Threads that move amounts between accounts on different pages; each eighth transaction also looks
 * at all of them, and writes to as many pages more. Each keeps its last moves in a list, whose
 * nodes transactions allocate and free. As many transactions as the arguments say, whatever the
 * time: THREADS MOVES. */
#include "check.h"

#include <stdint.h>

enum { ACCOUNTS = 12, PAGE = 4096, KEPT = 3, MOST_THREADS = 16, START = 1000 };

struct account {
  _Alignas(PAGE) long amount;
} accounts[ACCOUNTS], seen[ACCOUNTS]; /* not static, or gcc knows that nobody reads them */
struct move {
  struct move *next;
  long amount;
};
static struct move *moves[MOST_THREADS];
static long made; /* of all threads */
static int rounds;

__attribute__((transaction_safe)) static void keep(struct move **list, long amount) {
  struct move *move = malloc(sizeof *move);
  move->next = *list;
  move->amount = amount;
  *list = move;
  int count = 0;
  for (struct move **at = list; *at != NULL; at = &(*at)->next)
    if (++count > KEPT) {
      struct move *last = *at;
      *at = NULL;
      free(last);
      break;
    }
}

static void *work(void *argument) {
  const uintptr_t number = (uintptr_t)argument;
  uint64_t random = 0x9e3779b97f4a7c15U * (number + 1);
  for (int i = 0; i < rounds; ++i) {
    random ^= random >> 12, random ^= random << 25, random ^= random >> 27;
    const unsigned from = random % ACCOUNTS, to = random / 64 % ACCOUNTS;
    const long amount = (long)(random / 4096 % 100);
    long sum = 0;
    __transaction_atomic {
      if (i % 8 == 0)
        for (int account = 0; account < ACCOUNTS; ++account)
          sum += seen[account].amount = accounts[account].amount;
      accounts[from].amount -= amount;
      accounts[to].amount += amount;
      keep(&moves[number], amount);
      ++made;
    }
    EXPECT(i % 8 != 0 || sum == (long)ACCOUNTS * START);
  }
  return NULL;
}

int main(int argc, char **argv) {
  EXPECT(argc == 3);
  const int count = atoi(argv[1]);
  rounds = atoi(argv[2]);
  EXPECT(count <= MOST_THREADS);
  pthread_t threads[MOST_THREADS];
  for (int i = 0; i < ACCOUNTS; ++i)
    accounts[i].amount = START;
  for (int i = 0; i < count; ++i)
    EXPECT(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i) == 0);
  for (int i = 0; i < count; ++i)
    EXPECT(pthread_join(threads[i], NULL) == 0);
  long sum = 0;
  for (int i = 0; i < ACCOUNTS; ++i)
    sum += accounts[i].amount;
  EXPECT(sum == (long)ACCOUNTS * START && made == (long)count * rounds);
  for (int i = 0; i < count; ++i) {
    int kept = 0;
    for (struct move *move = moves[i]; move != NULL; move = move->next)
      ++kept;
    EXPECT(kept == KEPT);
  }
  return 0;
}
