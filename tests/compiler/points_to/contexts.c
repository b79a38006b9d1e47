// In sensitive mode what one caller passes is not what another passes.
// RUN: %cc %s | env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static long x, y;
static void bump(long *cell) { ++*cell; }
__attribute__((atomic)) void bump_x(void) { bump(&x); }
__attribute__((atomic)) void bump_y(void) { bump(&y); }
static void *run(void *unused) {
  (void)unused;
  bump_x();
  bump_y();
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
// CHECK: "name": "bump_x"
// CHECK: "conflicts": [
// CHECK-NEXT: {
// CHECK-NEXT: "with": "bump_x"
// CHECK: "name": "bump_y"
// CHECK-NOT: "with": "bump_x"
