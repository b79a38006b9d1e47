// A handler of a base gets a pointer into the object.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static long x;
__attribute__((atomic)) void mine() { x++; }
struct First {
  virtual ~First() {}
  long one = 1;
};
struct Second {
  long *where = &x;
  virtual ~Second() {}
};
struct Both : First, Second {};
__attribute__((atomic)) void theirs() {
  try {
    throw Both();
  } catch (Second &second) {
    ++*second.where;
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
