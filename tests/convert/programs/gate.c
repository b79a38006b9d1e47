// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gate that stays real: sections begin under it, and threads wait for a condition with it. A
// section takes another real lock, under which no section begins.
#include "threads.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int open;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static long logged;
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static long count;

static void write_log(void) {
  pthread_mutex_lock(&log_lock);
  ++logged;
  pthread_mutex_unlock(&log_lock);
}

static void add(long i) {
  pthread_mutex_lock(&count_lock);
  ++count;
  if (i % 100 == 0)
    write_log();
  pthread_mutex_unlock(&count_lock);
}

static void work(unsigned thread) {
  pthread_mutex_lock(&gate);
  if (thread == 0) {
    open = 1;
    pthread_cond_broadcast(&opened);
  }
  while (!open)
    pthread_cond_wait(&opened, &gate);
  add(1);
  pthread_mutex_unlock(&gate);
  for (long i = 0; i < kRounds; ++i)
    add(i);
}

int main(int argc, char **argv) {
  const long n = run(argc, argv, work);
  return expect("count", count, (kRounds + 1) * n) + expect("logged", logged, kRounds / 100 * n);
}
