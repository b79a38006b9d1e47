// What is thrown may be kept, and be thrown again.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <exception>
#include <pthread.h>
static long x;
__attribute__((atomic)) void mine() { x++; }
static std::exception_ptr kept;
static void keep() {
  try {
    throw &x;
  } catch (...) {
    kept = std::current_exception();
  }
}
__attribute__((atomic)) void theirs() {
  try {
    std::rethrow_exception(kept);
  } catch (long *p) {
    ++*p;
  }
}
static void *run(void *unused) {
  theirs();
  return unused;
}
int main() {
  keep();
  pthread_t thread;
  pthread_create(&thread, nullptr, run, nullptr);
  mine();
  return pthread_join(thread, nullptr);
}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
