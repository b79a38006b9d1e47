// Constructors of static objects are run by the system.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static long x;
__attribute__((atomic)) void mine() { x++; }
__attribute__((atomic)) void theirs() { x++; }
static void *run(void *unused) {
  mine();
  return unused;
}
struct Start {
  pthread_t thread;
  Start() {
    pthread_create(&thread, nullptr, run, nullptr);
    theirs();
  }
};
static Start start;
int main() { pthread_join(start.thread, nullptr); }
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
