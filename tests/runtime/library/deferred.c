// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Output in atomic functions, put off to the commit.
#include <pthread.h>
#include <stdio.h>
#include <tandem/tandem.h>
#include <tandem/transaction.h>
#include <unistd.h>

static long sum;

TANDEM_ATOMIC static void say(long by) {
  sum += by;
  printf("%s %ld\n", "sum", sum);
  fputs("text", stdout);
  putchar('\n');
  sum += by;
}

// The result is looked at: irrevocable.
TANDEM_ATOMIC static int ask(void) {
  sum += 1;
  return printf("asked\n");
}

static void *work(void *argument) {
  for (int i = 0; i < 100; ++i)
    say((long)argument);
  return NULL;
}

int main(int count, char **arguments) {
  (void)arguments;
  pthread_t threads[2];
  for (long i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, work, (void *)1);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  if (count > 1 && ask() != 6)
    return 1;
  struct tandem_statistics statistics;
  tandem_get_statistics(&statistics);
  printf("total %ld serialised %d\n", sum, (int)statistics.serialisations);
  return 0;
}
