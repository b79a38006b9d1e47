// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process with one thread, whose transactions call through pointers, as containers call their
// comparators: says whether they ran as the program was written, which needs no log. ADDRESS: it
// also takes the address of a lock's function; WAITS: of one that waits for a change.
#include <pthread.h>
#include <tandem/library.h>

#define SAFE __attribute__((transaction_safe))
int printf(const char *, ...);

// A wrapped function: the plain one is what gcc has no clone of.
static int plain(int value) { return value + 1; }
static int transactional(int value) { return value + 2; }
TANDEM_WRAP(plain, transactional);

typedef int (*Safe)(int) SAFE;
Safe by_pointer = (Safe)plain; // any function, as far as the compiler knows

#ifdef ADDRESS
int (*volatile lock_by)(pthread_mutex_t *) = pthread_mutex_lock;
#endif
#ifdef WAITS
int (*volatile wait_by)(pthread_cond_t *, pthread_mutex_t *,
                        const struct timespec *) = pthread_cond_timedwait;
#endif

int main(void) {
  int result = 0;
  __transaction_atomic { result = by_pointer(1); }
  printf("%s\n", result == 2 ? "as written" : result == 3 ? "with a log" : "wrong");
  return 0;
}
