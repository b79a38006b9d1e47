/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * include/tandem/transaction.h from C, beside transactions that gcc -fgnu-tm compiled where it did:
 * both work on the same data. */
#include <tandem/transaction.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t rounds = 2000; /* the first argument */
static uint64_t account[2] = {1000000, 1000000};

static void move(void *argument) {
  uint64_t amount = *(uint64_t *)argument;
  tandem_write_u64(&account[0], tandem_read_u64(&account[0]) - amount);
  tandem_write_u64(&account[1], tandem_read_u64(&account[1]) + amount);
}

static void *work(void *argument) {
  for (uint64_t i = 0; i < rounds; ++i) {
    uint64_t amount = i % 3;
    if (tandem_run(move, &amount, NULL) != TANDEM_COMMITTED)
      exit(1);
#ifdef __GNUC_TM__
    __transaction_atomic {
      account[0] += amount;
      account[1] -= amount;
    }
#else
    amount = (uint64_t)0 - amount;
    tandem_run(move, &amount, NULL);
#endif
  }
  return argument;
}

int main(int argc, char **argv) {
  if (argc > 1)
    rounds = (uint64_t)atol(argv[1]);
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i)
    if (pthread_create(&threads[i], NULL, work, NULL) != 0)
      return 1;
  for (int i = 0; i < 3; ++i)
    pthread_join(threads[i], NULL);
  if (account[0] == 1000000 && account[1] == 1000000)
    return 0;
  fprintf(stderr, "an update was lost\n");
  return 1;
}
