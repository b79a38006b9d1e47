// Assembly between functions knows what it names.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
__attribute__((noinline, used)) static long *get(void);
static long x;
static long *get(void) { return &x; }
__asm__(".data\nwhere: .quad get\n.globl where\n.text\n");
extern long *(*where)(void);
__attribute__((atomic)) void mine(void) { x++; }
__attribute__((atomic)) void theirs(void) { ++*where(); }
static void *run(void *unused) {
  theirs();
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  mine();
  return pthread_join(thread, 0);
}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK: "with": "theirs{{(\(\))?}}"
