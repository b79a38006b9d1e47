/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A program with an atomic section, a lock and a thread; then whether it runs with more rights than
 * its caller, and what is left of the variables in its environment. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifdef GNU_TM
#define SECTION __transaction_atomic
#define ATOMIC
#else
#define SECTION
#define ATOMIC __attribute__((atomic, noinline))
#endif

extern char **environ;
static long n;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

ATOMIC static void bump(void) {
  SECTION {
    n += 1;
    if (n > 5)
      n = n + 3;
  }
}

static void *work(void *unused) {
  (void)unused;
  for (int i = 0; i < 9; i++) {
    pthread_mutex_lock(&lock);
    bump();
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, work, NULL) != 0)
    return 1;
  work(NULL);
  pthread_join(thread, NULL);
  printf("%ld secure %lu", n, getauxval(AT_SECURE));
  for (char **entry = environ; *entry != NULL; ++entry)
    if (strncmp(*entry, "TANDEM_", 7) == 0 || strncmp(*entry, "ITM_", 4) == 0)
      printf(" %s", *entry);
  puts("");
  return 0;
}
