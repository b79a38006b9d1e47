/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * loading LIBRARY: transactions that hardware gives up without a reason (they touch new memory, and
 * call functions for the first time), while libraries are loaded and processes forked. LIBRARY is
 * loading_plugin.c. Nobody waits for the dynamic linker's locks inside the runtime.
 */
#include "check.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { LOADS = 300, FORKS = 40 };

static long total;
static atomic_int stop;

static void touch(void) {
  enum { BYTES = 4096 };
  long *page = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(page != MAP_FAILED);
  __transaction_atomic {
    ++total;
    *page = total;
  }
  EXPECT(*page > 0);
  munmap(page, BYTES);
}

static void *toucher(void *argument) {
  while (!atomic_load(&stop))
    touch();
  return argument;
}

static void *loader(void *library) {
  for (int i = 0; i < LOADS; ++i) {
    void *loaded = dlopen(library, RTLD_LAZY);
    EXPECT(loaded != NULL);
    dlclose(loaded);
  }
  return NULL;
}

int main(int argc, char **argv) {
  EXPECT(argc == 2);
  pthread_t threads[2];
  EXPECT(pthread_create(&threads[0], NULL, toucher, NULL) == 0);
  EXPECT(pthread_create(&threads[1], NULL, loader, argv[1]) == 0);
  for (int i = 0; i < FORKS; ++i) {
    const pid_t child = fork();
    EXPECT(child >= 0);
    if (child == 0) {
      for (int j = 0; j < 5; ++j)
        touch();
      _exit(0);
    }
    int status;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
  }
  pthread_join(threads[1], NULL);
  atomic_store(&stop, 1);
  pthread_join(threads[0], NULL);
  return 0;
}
