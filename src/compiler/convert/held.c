// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which converted locks a thread holds, for trylocks: a converted lock excludes nobody, but a
// trylock must fail where its own thread holds the lock. Compiled to bitcode, linked into converted
// programs behind the instrumentation: all of it is the thread's own memory, and a section sets it
// to what it was at its begin whenever it runs again.

#include <errno.h>

// As many as the deepest nesting of locks in one thread; more end the program.
enum { kMostHeld = 64 };

struct held_locks {
  unsigned count;
  const void *lock[kMostHeld];
};

static _Thread_local struct held_locks held;

unsigned _TANDEM_held_count(void) { return held.count; }

void _TANDEM_held_restore(unsigned count) { held.count = count; }

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
