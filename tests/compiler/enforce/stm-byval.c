// stm: a structure that is passed in memory is read by a barrier, whoever is called; not where it is the caller's own.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
#include <stdarg.h>
struct big {
  long a[6];
};
struct aligned {
  _Alignas(64) long a[8];
};
static struct big shared;
static struct aligned lines;
static const struct big constant = {{1, 2, 3, 4, 5, 6}};
static long total;
__attribute__((noinline)) static long sum(struct big b) { return b.a[0] + b.a[5]; }
__attribute__((noinline)) static long product(struct big b) { return b.a[0] * b.a[5]; }
__attribute__((noinline)) static long line(struct aligned b) { return b.a[0] + b.a[7]; }
__attribute__((noinline)) static long list(int n, ...) {
  va_list arguments;
  va_start(arguments, n);
  const struct big b = va_arg(arguments, struct big);
  va_end(arguments);
  return b.a[n];
}
static long (*way)(struct big) = sum;
__attribute__((atomic)) void known(void) {
  ++shared.a[0];
  total = sum(shared);
}
__attribute__((atomic)) void wide(void) {
  ++lines.a[0];
  total = line(lines);
}
__attribute__((atomic)) void variadic(void) {
  ++shared.a[1];
  total = list(1, shared);
}
__attribute__((atomic)) void pointer(void) {
  ++shared.a[2];
  total = way(shared);
}
__attribute__((atomic)) void own(long n) {
  struct big mine = {{n, 0, 0, 0, 0, n}};
  ++shared.a[3];
  total = sum(mine) + sum(constant);
}
int main(int argc, char **argv) {
  if (argc > 1)
    way = product;
  known();
  wide();
  variadic();
  pointer();
  own(argc);
  return argv == 0;
}
// CHECK-LABEL: define internal {{.*}}@known.tandem.tm(
// CHECK: %[[COPY:.*]] = alloca %struct.big, align 8
// CHECK: call void @_ITM_memcpyRtWn(ptr %[[COPY]], ptr @shared, i64 48)
// CHECK-NEXT: call i64 @sum.tandem.tm(ptr {{.*}}byval(%struct.big) {{.*}}%[[COPY]])
// CHECK-LABEL: define internal {{.*}}@wide.tandem.tm(
// CHECK: %[[COPY:.*]] = alloca %struct.aligned, align 64
// CHECK: call void @_ITM_memcpyRtWn(ptr %[[COPY]], ptr @lines, i64 64)
// CHECK-NEXT: call i64 @line.tandem.tm(ptr {{.*}}byval(%struct.aligned) {{.*}}%[[COPY]])
// CHECK-LABEL: define internal {{.*}}@variadic.tandem.tm(
// CHECK: call void @_ITM_memcpyRtWn(ptr %[[COPY:.*]], ptr @shared, i64 48)
// CHECK-NEXT: call {{.*}}@list.tandem.tm(i32 {{.*}}1, ptr {{.*}}byval(%struct.big) {{.*}}%[[COPY]])
// CHECK-LABEL: define internal {{.*}}@pointer.tandem.tm(
// CHECK: call void @_ITM_memcpyRtWn(ptr %[[COPY:.*]], ptr @shared, i64 48)
// CHECK: call ptr @_ITM_getTMCloneOrIrrevocable(
// CHECK: call i64 %{{.*}}(ptr {{.*}}byval(%struct.big) {{.*}}%[[COPY]])
// CHECK-LABEL: define internal {{.*}}@own.tandem.tm(
// CHECK-NOT: _ITM_memcpy
// CHECK: call i64 @sum.tandem.tm(
// CHECK-NOT: _ITM_memcpy
// CHECK: call i64 @sum.tandem.tm(ptr {{.*}}@constant)
