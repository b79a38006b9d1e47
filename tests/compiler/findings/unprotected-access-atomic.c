// Two atomic accesses are no data race, whatever their memory orders; an atomic and a plain access are.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long both, relaxed, inside, outside, mixed;
static void *work(void *unused) {
  pthread_mutex_lock(&lock);
  __sync_add_and_fetch(&both, 1);
  __atomic_store_n(&relaxed, 1, __ATOMIC_RELAXED);
  __sync_add_and_fetch(&inside, 1);
  ++outside;
  __sync_add_and_fetch(&mixed, 1);
  ++mixed;
  pthread_mutex_unlock(&lock);
  __sync_add_and_fetch(&both, 1);
  __atomic_store_n(&relaxed, 2, __ATOMIC_RELAXED);
  ++inside;
  __sync_add_and_fetch(&outside, 1);
  __sync_add_and_fetch(&mixed, 1);
  return unused;
}
int main(void) {
  pthread_t one, other;
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
}
// CHECK:18: 'inside' is written here outside all sections, and written in section 'work_1'
// CHECK-NEXT:  11: written here in section 'work_1'
// CHECK-NEXT:19: 'outside' is written here outside all sections, and written in section 'work_1' (the access is atomic)
// CHECK-NEXT:  12: written here in section 'work_1'
// CHECK-NEXT:20: 'mixed' is written here outside all sections, and written in section 'work_1' (the access is atomic)
// CHECK-NEXT:  14: written here in section 'work_1'
// CHECK-NEXT:3 findings
