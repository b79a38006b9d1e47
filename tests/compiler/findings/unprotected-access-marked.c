// The same for marked sections; a volatile access is told as such.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static volatile int counter;
__attribute__((atomic)) void section(void) { counter = counter + 1; }
static void *count(void *unused) {
  section();
  return 0;
}
static void *reset(void *unused) {
  counter = 0;
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, count, 0);
  pthread_create(&thread, 0, reset, 0);
  return 0;
}
// CHECK:[[#@LINE-9]]: 'counter' is written here outside all sections, and written in section 'section' (the access is volatile)
// CHECK-NEXT:  [[#@LINE-16]]: written here in section 'section'
// CHECK-NEXT:1 findings
