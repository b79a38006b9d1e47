// Functions that .init_array leads to are run by the system, before main.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static long x;
__attribute__((atomic)) void mine(void) { x++; }
__attribute__((atomic)) void theirs(void) { x++; }
static void *run(void *unused) {
  mine();
  return unused;
}
static void begin(int count, char **given, char **names) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  theirs();
  pthread_join(thread, 0);
}
__attribute__((section(".init_array"), used)) static void (*const at_start)(int, char **, char **) = begin;
int main(void) {}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
