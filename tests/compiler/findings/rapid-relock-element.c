// The same element of an array of locks is the same lock.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json rapid-relock | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t stripes[8];
static int counter;
void twice(unsigned hash) {
  pthread_mutex_lock(&stripes[hash & 7]);
  ++counter;
  pthread_mutex_unlock(&stripes[hash & 7]);
  pthread_mutex_lock(&stripes[hash & 7]);
  ++counter;
  pthread_mutex_unlock(&stripes[hash & 7]);
}
int main(int argc, char **argv) {
  twice(argc);
  return 0;
}
// CHECK:[[#@LINE-8]]: 'stripes[]' is acquired again right after its release: one region that covers both costs less, and hides the state between them
// CHECK-NEXT:  [[#@LINE-10]]: released here
// CHECK-NEXT:1 findings
