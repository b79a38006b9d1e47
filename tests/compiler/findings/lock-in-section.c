// A lock operation inside a marked section, directly or by a call.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-in-section | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static void guarded(void) {
  pthread_mutex_lock(&lock);
  ++counter;
  pthread_mutex_unlock(&lock);
}
__attribute__((atomic)) void section(void) { guarded(); }
int main(void) {
  section();
  guarded();
  return 0;
}
// CHECK:[[#@LINE-10]]: 'pthread_mutex_lock' inside atomic section 'section': a thread that holds this lock and enters a section may wait for one that is in the section and waits for the lock
// CHECK-NEXT:[[#@LINE-9]]: 'pthread_mutex_unlock' inside atomic section 'section': a thread that holds this lock and enters a section may wait for one that is in the section and waits for the lock
// CHECK-NEXT:2 findings
