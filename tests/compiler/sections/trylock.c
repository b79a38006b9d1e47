// A trylock's region is where it succeeded; a pointer that a wrapper returns names its lock.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
#include <stddef.h>
static pthread_mutex_t locks[4];
int counter;
void *try_item(unsigned hash) {
  pthread_mutex_t *lock = &locks[hash & 3];
  if (pthread_mutex_trylock(lock) == 0)
    return lock;
  return NULL;
}
void release_item(void *lock) { pthread_mutex_unlock((pthread_mutex_t *)lock); }
int main(void) {
  void *held = NULL;
  if ((held = try_item(2)) == NULL)
    return 1;
  ++counter;
  release_item(held);
  return 0;
}
// CHECK: "line": 17
// CHECK: "names": [
// CHECK-NEXT: "locks[]"
// CHECK: "kind": "trylock"
// CHECK-NEXT: "primitive": "pthread-mutex"
// CHECK-NEXT: "exits": 1
// CHECK-NEXT: "shape": "same-function"
