// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transaction takes a lock whose holder begins one, and one waits for a change behind a write to
// a page that nobody has touched. Hardware gives up both without a reason, and must not run them as
// what cannot wait. As in gnu.c, the system's headers are not included.
#include <tandem/library.h>

#define SAFE __attribute__((transaction_safe))
typedef struct {
  long words[8];
} Mutex;
typedef unsigned long Thread;
SAFE int pthread_mutex_lock(Mutex *);
SAFE int pthread_mutex_unlock(Mutex *);
extern void tandem_retry(void) __attribute__((noreturn, transaction_pure));
int pthread_create(Thread *, void *, void *(*)(void *), void *);
int pthread_join(Thread, void **);
void *aligned_alloc(unsigned long, unsigned long);
int usleep(unsigned);
int printf(const char *, ...);

// BY_POINTER: nothing shows that it waits, but that it asks for a lock and calls through pointers.
#ifdef BY_POINTER
typedef int SAFE (*OnLock)(Mutex *);
static volatile OnLock lock_by = pthread_mutex_lock, unlock_by = pthread_mutex_unlock;
#define LOCK(MUTEX) by_lock(MUTEX)
#define UNLOCK(MUTEX) by_unlock(MUTEX)
#else
#define LOCK pthread_mutex_lock
#define UNLOCK pthread_mutex_unlock
#endif

#define OWN_LINE __attribute__((aligned(128)))
static Mutex mutex OWN_LINE;
static long outside OWN_LINE, inside OWN_LINE, before OWN_LINE, waited OWN_LINE;
static volatile int phase OWN_LINE;
static long *page;

static void *hold(void *argument) {
  while (phase < 1)
    usleep(100);
  pthread_mutex_lock(&mutex);
  phase = 2;
  usleep(100000);
  __transaction_atomic { ++outside; }
  pthread_mutex_unlock(&mutex);
  usleep(100000);
  __transaction_atomic { waited = 1; }
  return argument;
}

__attribute__((noinline)) static void take(void) {
#ifdef BY_POINTER
  OnLock by_lock = lock_by, by_unlock = unlock_by;
#endif
  __transaction_atomic {
    LOCK(&mutex);
    ++inside;
    UNLOCK(&mutex);
  }
}

#ifndef BY_POINTER
__attribute__((noinline)) static void wait(void) {
  __transaction_atomic {
    *page = 1;
    if (waited == 0)
      tandem_retry();
    ++waited;
  }
}
#endif

static void *work(void *argument) {
  for (int i = 0; i < 2; ++i)
    __transaction_atomic { ++before; }
  pthread_mutex_lock(&mutex); // looked up
  inside = 0;
  pthread_mutex_unlock(&mutex);
  phase = 1;
  while (phase < 2) {
  }
  take();
#ifndef BY_POINTER
  wait();
#endif
  return argument;
}

int main(void) {
  Thread threads[2];
  page = aligned_alloc(1 << 21, 1 << 21);
  pthread_create(&threads[0], 0, hold, 0);
  pthread_create(&threads[1], 0, work, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], 0);
  printf("%ld %ld %ld %ld\n", outside, inside, waited, *page);
  return 0;
}
