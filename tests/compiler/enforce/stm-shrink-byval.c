// A function that computes only, of a shared structure passed by value: the copy is made inside the
// transaction.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
#include <pthread.h>
struct lines {
  long a[6];
};
static struct lines lines;
static __attribute__((noinline)) long sum(struct lines l) { return l.a[0] + l.a[1] + l.a[5]; }
__attribute__((atomic)) void bump(void) { ++lines.a[5]; }
__attribute__((atomic)) long wide(void) { return sum(lines); }
static void *run(void *unused) {
  bump();
  return wide() == 0 ? 0 : unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  run(0);
  return pthread_join(thread, 0);
}
// CHECK-LABEL: define internal i64 @wide.tandem.tm(
// CHECK: call void @_ITM_memcpyRtWn(
