// Reader-writer locks, spinlocks and C11 mutexes are locks; who holds a lock as a reader is told.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json > %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
#include <pthread.h>
#include <threads.h>
static pthread_rwlock_t rw;
static pthread_spinlock_t spin;
static mtx_t mutex;
static cnd_t changed;
static int x;
int main(void) {
  pthread_rwlock_rdlock(&rw);
  int seen = x;
  pthread_rwlock_unlock(&rw);
  // CHECK: section main_1 lock-region line [[#@LINE-3]]: mutex pthread-rwlock shared rw, 1 exits, same-function
  if (pthread_rwlock_trywrlock(&rw) == 0) {
    ++x;
    pthread_rwlock_unlock(&rw);
  }
  // CHECK: section main_2 lock-region line [[#@LINE-4]]: trylock pthread-rwlock rw, 1 exits, same-function
  pthread_spin_lock(&spin);
  ++x;
  pthread_spin_unlock(&spin);
  // CHECK: section main_3 lock-region line [[#@LINE-3]]: mutex pthread-spinlock spin, 1 exits, same-function
  mtx_lock(&mutex);
  while (!x)
    cnd_wait(&changed, &mutex);
  mtx_unlock(&mutex);
  // CHECK: section main_4 lock-region line [[#@LINE-4]]: mutex c11-mutex mutex, 2 exits, same-function
  // CHECK: section main_5 lock-region line [[#@LINE-3]]: wait c11-mutex mutex, 2 exits, same-function
  if (mtx_trylock(&mutex) == thrd_busy)
    return 1;
  ++x;
  mtx_unlock(&mutex);
  // CHECK: section main_6 lock-region line [[#@LINE-4]]: trylock c11-mutex mutex, 1 exits, same-function
  cnd_signal(&changed);
  // CHECK: site line [[#@LINE-10]] main: wait c11-mutex mutex: main_4 main_5
  // CHECK: site line [[#@LINE-2]] main: signal c11-cond changed: wakes waiters
  return seen;
}
