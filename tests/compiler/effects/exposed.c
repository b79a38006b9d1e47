// A pointer may reach a variable whose address the program stored, and no other.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static int seen, unseen;
static int *where = &seen;
__attribute__((atomic)) void through(void) { *where = 1; }
__attribute__((atomic)) int get_seen(void) { return seen; }
__attribute__((atomic)) int get_unseen(void) { return unseen; }
static void *run(void *unused) {
  (void)unused;
  through();
  unseen = 1;
  return (void *)(long)(get_seen() + get_unseen());
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], 0);
}
// CHECK: "name": "get_seen"
// CHECK: "conflicts": [
// CHECK-NEXT: {
// CHECK-NEXT: "with": "through"
// CHECK-NEXT: "on": [
// CHECK-NEXT: "seen"
// CHECK-NEXT: ]
// CHECK: "name": "get_unseen"
// CHECK: "conflicts": []
