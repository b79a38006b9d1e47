// A lock region's irrevocable callees are one finding, with the steps to the first.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json irrevocable-in-section | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static void tell(void) { printf("%d\n", counter); }
static void *run(void *unused) {
  pthread_mutex_lock(&lock);
  if (++counter > 100)
    perror("counter");
  tell();
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  run(0);
  return 0;
}
// CHECK:[[#@LINE-10]]: lock region 'run_1' of 'lock' calls what cannot be undone: 'printf' and (on a cold path) 'perror'
// CHECK-NEXT:  [[#@LINE-16]]: 'tell' calls 'printf' here
// CHECK-NEXT:1 findings
