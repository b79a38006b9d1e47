// What code outside the program throws may have any pointer that it knows.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
long x;
__attribute__((atomic)) void mine() { x++; }
struct Failure {
  long *where;
};
extern void plug_in(long *);
__attribute__((atomic)) void theirs() {
  try {
    plug_in(nullptr);
  } catch (const Failure &failure) {
    ++*failure.where;
  }
}
static void *run(void *unused) {
  theirs();
  return unused;
}
int main() {
  plug_in(&x);
  pthread_t thread;
  pthread_create(&thread, nullptr, run, nullptr);
  mine();
  return pthread_join(thread, nullptr);
}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
