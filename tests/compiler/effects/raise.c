// A handler runs before raise returns.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
#include <signal.h>
static long x;
static void handle(int number) { x += number; }
__attribute__((atomic)) void mine(void) { x++; }
__attribute__((atomic)) void theirs(void) { raise(SIGUSR1); }
static void *run(void *unused) {
  theirs();
  return unused;
}
int main(void) {
  signal(SIGUSR1, handle);
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  mine();
  return pthread_join(thread, 0);
}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
