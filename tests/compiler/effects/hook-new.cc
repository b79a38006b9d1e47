// Where a program has a handler for want of memory, every allocation may run it.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <new>
#include <pthread.h>
static long x;
static void handle() { x++; }
__attribute__((atomic)) void mine() { x++; }
__attribute__((atomic)) long *theirs() { return new long[5]; }
static void *run(void *) { return theirs(); }
int main() {
  std::set_new_handler(handle);
  pthread_t thread;
  pthread_create(&thread, nullptr, run, nullptr);
  mine();
  return pthread_join(thread, nullptr);
}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
