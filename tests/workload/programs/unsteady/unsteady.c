// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long pid;

static void *work(void *unused) {
  pthread_mutex_lock(&lock);
  pid += getpid();
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  pthread_t other;
  if (pthread_create(&other, NULL, work, NULL) != 0)
    return 1;
  work(NULL);
  pthread_join(other, NULL);
  printf("%ld\n", pid);
  return 0;
}
