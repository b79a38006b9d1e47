// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a test program's main() as one atomic section, beside another thread: torture.py gives that
// the name torture_main. Its status is the program's.
#include <pthread.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C"
#endif
#ifdef ARGUMENTS
    int
    torture_main(int, char **);
#else
int torture_main(void);
#endif

static int given;
static char **words;

#ifdef PLAIN
__attribute__((noinline))
#else
__attribute__((atomic, noinline))
#endif
static int
section(void) {
#ifdef ARGUMENTS
  return torture_main(given, words);
#else
  return torture_main();
#endif
}

static void *idle(void *unused) {
  for (;;)
    pause();
  return unused;
}

int main(int argc, char **argv) {
  pthread_t thread;
  given = argc;
  words = argv;
  if (pthread_create(&thread, 0, idle, 0) != 0)
    return 125;
  return section();
}
