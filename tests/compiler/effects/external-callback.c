// A library may be given another library's function to call.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
extern void call_me(void);
long x;
static void count(void) { x++; }
extern void register_me(void (*)(void));
static pthread_once_t once;
__attribute__((atomic)) void mine(void) { x++; }
__attribute__((atomic)) void theirs(void) { pthread_once(&once, call_me); }
static void *run(void *unused) {
  theirs();
  return unused;
}
int main(void) {
  register_me(count);
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  mine();
  return pthread_join(thread, 0);
}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
