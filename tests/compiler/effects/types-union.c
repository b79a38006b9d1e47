// Members of a union mean each other.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
struct halves {
  int low, high;
};
static union {
  long whole;
  struct halves part;
} both;
__attribute__((atomic)) void set(void) { both.whole = 1; }
__attribute__((atomic)) void set_high(void) { both.part.high = 2; }
static void *run(void *unused) {
  (void)unused;
  set();
  set_high();
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
// CHECK: "name": "set"
// CHECK: "conflicts": [
// CHECK: "with": "set_high"
