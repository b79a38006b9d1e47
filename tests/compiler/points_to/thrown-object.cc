// A handler gets the object that is thrown, and the pointers in it.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static long x;
__attribute__((atomic)) void mine() { x++; }
struct Failure {
  int code;
  long *where;
};
static void fail() { throw Failure{1, &x}; }
__attribute__((atomic)) void theirs() {
  try {
    fail();
  } catch (const Failure &failure) {
    ++*failure.where;
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
