/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A process's first transactions: first HOW [PLUGIN]. Each calls functions of the C library through
 * pointers, and must stay one that can be undone: the library knows them by the addresses that the
 * program has of them. HOW is "alone" (the main thread's), "threads" (of many at the same time),
 * "fork" (of a child, then of its parent), "plugin" (of a thread that a library's constructor
 * starts and waits for) or "namespace" (of a library, this program say, in its own name space).
 */
#define _GNU_SOURCE
#include "../gnu_tm/check.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

uint32_t _ITM_inTransaction(void) __attribute__((transaction_pure));

static size_t (*volatile length_by)(const char *) = strlen;
static void *(*volatile allocate_by)(size_t) = malloc;
static void (*volatile free_by)(void *) = free;
static pthread_barrier_t all_there;
static long total;

static void *run(void *others) {
  size_t (*length)(const char *) = length_by;
  void *(*allocate)(size_t) = allocate_by;
  void (*release)(void *) = free_by;
  uint32_t state = 0;
  if (others != NULL)
    pthread_barrier_wait(&all_there);
  __transaction_relaxed {
    char *text = allocate(5);
    text[0] = 'x';
    text[1] = '\0';
    total += (long)length(text);
    release(text);
    state = _ITM_inTransaction();
  }
  EXPECT(state == 1); /* inRetryableTransaction */
  return NULL;
}

__attribute__((visibility("default"))) void run_first(void) { run(NULL); }

int main(int count, char **arguments) {
  enum { kThreads = 8 };
  const char *how = count > 1 ? arguments[1] : "";
  long expected = 1;
  have_a_second_thread();
  if (strcmp(how, "alone") == 0) {
    run(NULL);
  } else if (strcmp(how, "threads") == 0) {
    pthread_t threads[kThreads];
    pthread_barrier_init(&all_there, NULL, kThreads);
    for (int i = 0; i < kThreads; ++i)
      EXPECT(pthread_create(&threads[i], NULL, run, &all_there) == 0);
    for (int i = 0; i < kThreads; ++i)
      EXPECT(pthread_join(threads[i], NULL) == 0);
    expected = kThreads;
  } else if (strcmp(how, "fork") == 0) {
    const pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
      have_a_second_thread();
      run(NULL);
      _exit(total == 1 ? 0 : 1);
    }
    int status = -1;
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(status == 0);
    run(NULL);
  } else if (strcmp(how, "namespace") == 0) {
    EXPECT(count == 3);
    void *library = dlmopen(LM_ID_NEWLM, arguments[2], RTLD_NOW);
    EXPECT(library != NULL);
    ((void (*)(void))dlsym(library, "run_first"))();
    expected = 0; /* its own total */
  } else {
    EXPECT(count == 3);
    EXPECT(dlopen(arguments[2], RTLD_NOW) != NULL);
  }
  EXPECT(total == expected);
  return 0;
}
