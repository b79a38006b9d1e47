// What the system runs at the end is run by the thread that ends the process: beside main only while there is another
// thread, and not before the first one or after the last.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int before, during, after;
static void *work(void *unused) { exit(unused != 0); }
__attribute__((destructor)) static void finish(void) {
  pthread_mutex_lock(&lock);
  ++before;
  ++during;
  ++after;
  pthread_mutex_unlock(&lock);
}
__attribute__((constructor)) static void begin(void) { before = 1; }
int main(void) {
  pthread_t thread;
  ++before;
  pthread_create(&thread, 0, work, 0);
  ++during;
  pthread_join(thread, 0);
  ++after;
  return 0;
}
// CHECK:22: 'during' is written here outside all sections, and written in section 'finish_1'
// CHECK-NEXT:  13: written here in section 'finish_1'
// CHECK-NEXT:1 findings
