// What atexit() registers runs when main returns or calls what ends the process as exit() does: beside threads that main has joined by then it is not, and
// it is beside others.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
// RUN: %cc %s -DHOW=1 | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --check-prefix=EARLY
// RUN: %cc %s -DHOW=2 | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --check-prefix=EARLY
// RUN: %cc %s -DHOW=3 | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --check-prefix=EARLY
#include <err.h>
#include <error.h>
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long joined, running;
static void *in_joined(void *unused) {
  pthread_mutex_lock(&m);
  ++joined;
  pthread_mutex_unlock(&m);
  return unused;
}
static void *in_running(void *unused) {
  pthread_mutex_lock(&m);
  ++running;
  pthread_mutex_unlock(&m);
  return unused;
}
static void clean(void) {
  ++joined;
  ++running;
}
#ifdef HOW
static void (*die)(int) = exit;
#endif
int main(int argc, char **argv) {
  pthread_t one, other;
  atexit(clean);
  pthread_create(&one, 0, in_joined, 0);
#ifdef HOW
  if (argc > HOW)
    HOW == 1 ? err(1, "too many") : HOW == 2 ? die(2) : error(1, 0, "too many");
#endif
  pthread_create(&other, 0, in_running, 0);
  pthread_join(one, 0);
  if (argc > 3)
    exit(1);
  return 0;
}
// CHECK:31: 'running' is written here outside all sections, and written in section 'in_running_1'
// CHECK-NEXT:  25: written here in section 'in_running_1'
// CHECK-NEXT:1 findings
// EARLY-DAG: 'joined' is written here outside all sections, and written in section 'in_joined_1'
// EARLY-DAG: 'running' is written here outside all sections, and written in section 'in_running_1'
