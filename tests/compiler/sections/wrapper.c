// A function that only acquires a lock is a wrapper: its callers are the sites, it is none itself.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static pthread_mutex_t locks[4];
int counter;
void item_lock(unsigned hash) { pthread_mutex_lock(&locks[hash & 3]); }
void item_unlock(unsigned hash) { pthread_mutex_unlock(&locks[hash & 3]); }
int main(void) {
  item_lock(7);
  ++counter;
  item_unlock(7);
  return 0;
}
// CHECK-NOT: "name": "item_lock
// CHECK: "name": "main_1"
// CHECK: "line": 10
// CHECK: "locks[]"
// CHECK: "shape": "same-function"
// CHECK-NOT: "name": "item_lock
