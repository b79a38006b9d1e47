// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which converted locks a thread holds, for trylocks: a converted lock excludes nobody, but a
// trylock must fail where its own thread holds the lock. Compiled to bitcode, linked into converted
// programs behind the instrumentation: all of it is the thread's own memory, and a section sets it
// to what it was at its begin whenever it runs again.
//
// And regions of a converted lock that stay real (real.h): a word of the lock says whether one
// holds it.

#define _DEFAULT_SOURCE // syscall()

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

// As many as the deepest nesting of locks in one thread; more end the program.
enum { kMostHeld = 64 };

struct held_locks {
  unsigned count;
  const void *lock[kMostHeld];
};

static _Thread_local struct held_locks held;

// Whether the thread is in a section, at a call that may have to wait for a region that stays real.
static _Thread_local unsigned nested;

// Of what _TANDEM_held_count() gives: the number of locks, and above it `nested`.
enum { kCountBits = 16 };

unsigned _TANDEM_held_count(void) { return held.count | nested << kCountBits; }

void _TANDEM_held_restore(unsigned count) {
  held.count = count & ((1U << kCountBits) - 1);
  nested = count >> kCountBits;
}

unsigned _TANDEM_held_nest(unsigned now) {
  const unsigned before = nested;
  nested = now;
  return before;
}

int _TANDEM_held_acquire(const void *lock) {
  const unsigned count = held.count;
  if (count == kMostHeld)
    __builtin_trap();
  held.lock[count] = lock;
  held.count = count + 1;
  return 0;
}

// 0, or EBUSY where the thread holds the lock.
int _TANDEM_held_try(const void *lock) {
  for (unsigned i = held.count; i > 0; --i)
    if (held.lock[i - 1] == lock)
      return EBUSY;
  return _TANDEM_held_acquire(lock);
}

int _TANDEM_held_release(const void *lock) {
  const unsigned count = held.count;
  for (unsigned i = count; i > 0; --i)
    if (held.lock[i - 1] == lock) {
      held.lock[i - 1] = held.lock[count - 1];
      held.count = count - 1;
      return 0;
    }
  __builtin_trap(); // it does not hold it
}

// As in converted_operations.h: of a pthread_mutex_t, what glibc uses for robust mutexes only.
enum { kHeldWord = 24 };

static unsigned *word_of(const void *lock) { return (unsigned *)((char *)lock + kHeldWord); }

static _Thread_local const void *refused;

void _TANDEM_held_refuse(const void *lock) { refused = lock; }

const void *_TANDEM_held_refused(void) { return refused; }

// Outside of sections, whose stores to the word become visible when they end: a wake-up that
// follows one finds every thread that sleeps on the old value. One that may not sleep looks again.
void _TANDEM_held_wait(void) {
  const void *lock = refused;
  if (lock == NULL)
    return;
  if (nested != 0)
    __builtin_trap(); // in a section: the file says that this is not reached
  unsigned *word = word_of(lock);
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != 0)
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

int _TANDEM_held_yield(void) { return sched_yield(); }

int _TANDEM_held_really(const void *lock) {
  (void)lock;
  return 0;
}

int _TANDEM_held_no_more(const void *lock) {
  syscall(SYS_futex, word_of(lock), FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
  return 0;
}
