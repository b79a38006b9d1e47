// One lock under two names excludes, and a barrier keeps apart what comes before and behind it. Threads that wait at one
// have possible races only. A variable of main's that a thread has the address of, and a lock that is held on some paths only, as well.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json different-locks | %FileCheck %s --check-prefix=NONE --match-full-lines --strict-whitespace
// RUN: %python %S/print.py %t.json unguarded-access | %FileCheck %s --check-prefix=NONE --match-full-lines --strict-whitespace
// RUN: %python %S/print.py %t.json possible-race | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
struct object {
  pthread_mutex_t lock;
  long n;
};
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t *other_name = &m;
static struct object object = {PTHREAD_MUTEX_INITIALIZER, 0};
static pthread_barrier_t barrier;
static long by_pointer, before_barrier, sometimes;
static void add(struct object *to) {
  pthread_mutex_lock(&to->lock);
  ++to->n;
  pthread_mutex_unlock(&to->lock);
}
static void *work(void *local) {
  pthread_mutex_lock(other_name);
  ++by_pointer;
  pthread_mutex_unlock(other_name);
  add(&object);
  ++before_barrier;
  pthread_barrier_wait(&barrier);
  pthread_mutex_lock(&m);
  ++sometimes;
  pthread_mutex_unlock(&m);
  ++*(long *)local;
  return 0;
}
int main(int argc, char **argv) {
  (void)argv;
  long own = 0;
  pthread_t thread;
  pthread_barrier_init(&barrier, 0, 2);
  pthread_create(&thread, 0, work, &own);
  pthread_mutex_lock(&m);
  ++by_pointer;
  pthread_mutex_unlock(&m);
  pthread_mutex_lock(&object.lock);
  ++object.n;
  pthread_mutex_unlock(&object.lock);
  pthread_barrier_wait(&barrier);
  ++before_barrier;
  if (argc > 1)
    pthread_mutex_lock(&m);
  ++sometimes;
  if (argc > 1)
    pthread_mutex_unlock(&m);
  ++own;
  pthread_join(thread, 0);
  return own + by_pointer + before_barrier + sometimes + object.n > 5;
}
// NONE:0 findings
// CHECK:30: 'sometimes' is written here and written by another thread: 'm' is held on some paths only
// CHECK-NEXT:  51: written here, by the thread that begins with 'main'
// CHECK-NEXT:  30: written here by the one that begins with 'work'
// CHECK-NEXT:32: '*local' is written here and written by another thread, both without a lock
// CHECK-NEXT:  54: written here, by the thread that begins with 'main'
// CHECK-NEXT:  32: written here by the one that begins with 'work'
// CHECK-NEXT:2 findings
