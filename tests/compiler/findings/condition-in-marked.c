// Inside a marked section, and what it calls, a wait and a signal are findings; a signal holds no lock.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json condition-in-section | %FileCheck %s --match-full-lines --strict-whitespace
// RUN: %python %S/print.py %t.json lock-in-section | %FileCheck %s --check-prefix=LOCKS
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int work;
static void wake(void) { pthread_cond_signal(&ready); }
__attribute__((atomic)) void give(void) {
  ++work;
  wake();
}
__attribute__((atomic)) void take(void) {
  while (work == 0)
    pthread_cond_wait(&ready, &lock);
  --work;
}
int main(void) {
  give();
  take();
  return 0;
}
// CHECK:[[#@LINE-15]]: 'ready' is signalled inside atomic section 'give': who waits may wake up before the section's writes are there to see
// CHECK-NEXT:[[#@LINE-9]]: 'ready' is waited for inside atomic section 'take': a section that changes what it waits for has to wait for this one
// CHECK-NEXT:  [[#@LINE-17]]: signalled here
// CHECK-NEXT:2 findings
// LOCKS-NOT: cond_signal
// LOCKS: 'pthread_cond_wait' inside atomic section 'take'
// LOCKS-NEXT: 1 findings
