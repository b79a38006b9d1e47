/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Threads that come and go, fork with transactions under way, code that is loaded and unloaded,
 * calls through pointers, relaxed transactions. argv[1]: a library made from plugin.c. */
#include "check.h"

#include <dlfcn.h>
#include <sys/wait.h>

static long counter;
static long together[2]; /* always equal outside transactions */
static volatile int stop;

static void *add_one(void *argument) {
  __transaction_atomic {
    ++counter;
    ++together[0];
    ++together[1];
  }
  return argument;
}

static void thousands_of_threads(void) {
  enum { BATCH = 100, BATCHES = 20 };
  long before = counter;
  for (int batch = 0; batch < BATCHES; ++batch) {
    pthread_t threads[BATCH];
    for (int i = 0; i < BATCH; ++i)
      EXPECT(pthread_create(&threads[i], NULL, add_one, NULL) == 0);
    for (int i = 0; i < BATCH; ++i)
      pthread_join(threads[(i * 37) % BATCH], NULL);
  }
  EXPECT(counter == before + BATCH * BATCHES);
}

static void *churn(void *argument) {
  while (!stop)
    add_one(argument);
  return NULL;
}

static void forks(void) {
  pthread_t threads[2];
  stop = 0;
  for (int i = 0; i < 2; ++i)
    EXPECT(pthread_create(&threads[i], NULL, churn, NULL) == 0);
  for (int n = 0; n < 30; ++n) {
    pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
      /* No transaction of another thread is half done, and there is nobody to wait for. */
      long a;
      long b;
      __transaction_atomic {
        a = together[0];
        b = together[1];
      }
      add_one(NULL);
      pthread_t grandchild;
      if (pthread_create(&grandchild, NULL, add_one, NULL) != 0)
        _exit(2);
      pthread_join(grandchild, NULL);
      _exit(a == b && together[0] == a + 2 ? 0 : 1);
    }
    int status = 0;
    EXPECT(waitpid(child, &status, 0) == child);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  stop = 1;
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  EXPECT(together[0] == together[1]);
}

typedef long safe_function(long *) __attribute__((transaction_safe));

static void plugins(const char *path) {
  for (int n = 0; n < 5; ++n) {
    void *plugin = dlopen(path, RTLD_NOW);
    EXPECT(plugin != NULL);
    safe_function *bump = (safe_function *)dlsym(plugin, "plugin_bump");
    long (*own)(void) = (long (*)(void))dlsym(plugin, "plugin_transaction");
    EXPECT(bump != NULL && own != NULL);
    long before = counter;
    long result;
    __transaction_atomic { result = bump(&counter); } /* by way of the plugin's clone table */
    EXPECT(result == before + 1 && counter == before + 1);
    EXPECT(own() == 1);
    EXPECT(own() == 2);
    dlclose(plugin);
  }
}

static int printed;
__attribute__((noinline)) static void side_effect(long by) {
  ++printed;
  counter += by;
}

static void *relax(void *argument) {
  for (int i = 0; i < 500; ++i) {
    __transaction_relaxed {
      ++together[0];
      if (i % 10 == 0)
        side_effect(1); /* no clone: from here on the transaction is serial */
      ++together[1];
    }
  }
  return argument;
}

static void relaxed(void) {
  pthread_t threads[4];
  printed = 0;
  long before = counter;
  for (int i = 0; i < 4; ++i)
    EXPECT(pthread_create(&threads[i], NULL, relax, NULL) == 0);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  EXPECT(printed == 200);
  EXPECT(counter == before + 200);
  EXPECT(together[0] == together[1]);
}

/* A transaction that is serial may create threads that have transactions. */
static void *wait_for_turn(void *argument) {
  add_one(argument);
  return NULL;
}

static void threads_from_inside(void) {
  pthread_t thread;
  long before = counter;
  __transaction_relaxed {
    counter += 10;
    pthread_create(&thread, NULL, wait_for_turn, NULL);
    counter += 10;
  }
  pthread_join(thread, NULL);
  EXPECT(counter == before + 21);
}

int main(int argc, char **argv) {
  EXPECT(argc == 2);
  threads_from_inside(); /* the process's first thread */
  plugins(argv[1]);
  thousands_of_threads();
  relaxed();
  threads_from_inside();
  plugins(argv[1]);
  forks();
  return 0;
}
