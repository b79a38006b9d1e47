// A pointer that is thrown is what a handler of pointers gets.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static long x;
__attribute__((atomic)) void mine() { x++; }
static void fail() { throw &x; }
__attribute__((atomic)) void theirs() {
  try {
    fail();
  } catch (long *p) {
    ++*p;
  }
}
static void *run(void *unused) {
  theirs();
  return unused;
}
int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, run, nullptr);
  mine();
  return pthread_join(thread, nullptr);
}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
