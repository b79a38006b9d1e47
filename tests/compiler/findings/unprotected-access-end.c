// What atexit() registers, and a destructor, run in the thread that ends the process: main's, or another one that calls exit().
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access > %t.txt
// RUN: %python %S/print.py %t.json possible-race >> %t.txt
// RUN: %FileCheck %s < %t.txt
// RUN: %cc %s -DEXITS | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --check-prefix=EXITS
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long registered, destroyed;
static void clean(void) { ++registered; }
__attribute__((destructor)) static void destroy(void) { ++destroyed; }
static void *work(void *unused) {
#ifdef EXITS
  exit(1);
#endif
  return unused;
}
int main(void) {
  pthread_t thread;
  atexit(clean);
  pthread_create(&thread, 0, work, 0);
  pthread_mutex_lock(&m);
  ++registered;
  ++destroyed;
  pthread_mutex_unlock(&m);
  return 0;
}
// CHECK: {{^}}0 findings
// CHECK-NEXT: {{^}}0 findings
// EXITS-DAG: 'registered' is written here outside all sections, and written in section 'main_1'
// EXITS-DAG: 'destroyed' is written here outside all sections, and written in section 'main_1'
