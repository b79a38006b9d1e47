// stm: accesses of words are the inline versions of barriers, with the thread looked up once a function; calls in code
// for size, on unlikely paths, and where the function allocates on the stack as it goes.
// TANDEM_INLINE_BARRIERS=0: calls everywhere.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
// RUN: %cc %s | env TANDEM_ENFORCE=stm TANDEM_INLINE_BARRIERS=0 %tandem > %t.calls.ll
// RUN: %FileCheck %s --check-prefix=CALLS --input-file=%t.calls.ll --implicit-check-not=_TANDEM_inline
#include <tandem/tandem.h>
long total;
double sum;
int refused;
void use(long *);
TANDEM_ATOMIC void fast(long by) {
  if (__builtin_expect(by < 0, 0))
    refused = refused * 2;
  total = total * by;
  sum = sum + 1;
}
TANDEM_ATOMIC __attribute__((minsize)) void small(long by) { total = total * by; }
TANDEM_ATOMIC long stack(long n) {
  long places[n];
  use(places);
  return total + places[0];
}
void use(long *places) { places[0] = 1; }
int main(int argc, char **argv) {
  (void)argv;
  fast(argc);
  small(argc);
  return (int)stack(argc);
}
// CHECK-LABEL: define internal {{.*}}@fast.tandem.tm(
// CHECK: %[[PLACE:.*]] = call {{.*}}ptr @llvm.threadlocal.address.p0(ptr {{.*}}@_TANDEM_thread_4)
// CHECK: %[[THREAD:.*]] = load ptr, ptr %[[PLACE]]
// CHECK: call i32 @_ITM_RfWU4(ptr @refused)
// CHECK: call void @_ITM_WU4(ptr @refused, i32 %{{.*}})
// CHECK-NOT: _TANDEM_thread_4
// CHECK: call i64 @_TANDEM_inline_RfWU8(ptr @total, ptr %[[THREAD]])
// CHECK: call void @_TANDEM_inline_WU8(ptr @total, i64 %{{.*}}, ptr %[[THREAD]])
// CHECK: %[[BITS:.*]] = call i64 @_TANDEM_inline_RfWU8(ptr @sum, ptr %[[THREAD]])
// CHECK: bitcast i64 %[[BITS]] to double
// CHECK-LABEL: define internal {{.*}}@small.tandem.tm(
// CHECK: call i64 @_ITM_RfWU8(ptr @total)
// CHECK: call void @_ITM_WU8(ptr @total,
// CHECK-LABEL: define internal {{.*}}@stack.tandem.tm(
// CHECK: call i64 @_ITM_RU8(ptr @total)
// CHECK-LABEL: define {{.*}}@_TANDEM_inline_WU8(
// CHECK-SAME: #[[INLINE:[0-9]+]]
// CHECK: attributes #[[INLINE]] = {{{.*}}alwaysinline
// CALLS-LABEL: define internal void @fast.tandem.tm(
// CALLS: call {{.*}} @_ITM_RfWU8(
// CALLS: call {{.*}} @_ITM_WU8(
