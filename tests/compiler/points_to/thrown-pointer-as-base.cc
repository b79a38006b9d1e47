// A handler of a pointer to a base gets a pointer into what is thrown.
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
  long *where;
  virtual ~Second() {}
};
struct Both : First, Second {};
static Both both;
__attribute__((atomic)) void theirs() {
  both.where = &x;
  try {
    throw &both;
  } catch (Second *second) {
    ++*second->where;
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
