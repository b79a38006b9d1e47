// A thread-local variable whose address is given away is shared.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static _Thread_local int mine, given;
static int *shared;
__attribute__((atomic)) void give(void) { shared = &given; }
__attribute__((atomic)) void own(void) { ++mine; }
__attribute__((atomic)) void own_given(void) { ++given; }
__attribute__((atomic)) void other(void) { ++*shared; }
static void *run(void *unused) {
  (void)unused;
  give();
  own();
  own_given();
  other();
  return (void *)(long)(mine);
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], 0);
}
// CHECK: "name": "own"
// CHECK: "writes": []
// CHECK: "name": "own_given"
// CHECK: "writes": [
// CHECK-NEXT: "given"
// CHECK: "with": "other"
