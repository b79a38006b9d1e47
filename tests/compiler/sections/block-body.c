// A block's effects are those of what runs in it, and of nothing before or behind it.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
// RUN: %FileCheck %s --check-prefix=REMOVED --input-file=%t.ll
#include <pthread.h>
#include <tandem/tandem.h>
int before, inside, behind;
static void *run(void *argument) {
  ++before;
  tandem_atomic { ++inside; }
  ++behind;
  return argument;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], 0);
  return 0;
}
// CHECK: "writes": [
// CHECK-NEXT: "inside"
// CHECK-NEXT: ]
// REMOVED: define internal ptr @run
// REMOVED-NOT: call {{.*}}@_TANDEM_block_
