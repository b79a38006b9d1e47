// stm: every width has its barrier; what has none is copied.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
static struct { char c; short s; int i; long l; float f; double d; void *p; long double x; } v;
typedef struct { long part[5]; } block;
static block from, to;
__attribute__((atomic)) void all(void) {
  v.c++;
  v.s++;
  v.i *= 3;
  v.l *= 3;
  v.f = v.f + 1;
  v.d = v.d + 1;
  v.p = &v.p;
  v.x = v.x + 1;
  to = from;
}
int main(void) {
  all();
  return v.i;
}
// CHECK-LABEL: define internal {{.*}}@all.tandem.tm(
// CHECK-DAG: call i8 @_TANDEM_inline_{{R(fW)?}}U1(
// CHECK-DAG: call void @_TANDEM_inline_WU1(
// CHECK-DAG: call i16 @_TANDEM_inline_{{R(fW)?}}U2(
// CHECK-DAG: call void @_TANDEM_inline_WU2(
// CHECK-DAG: call i32 @_TANDEM_inline_{{R(fW)?}}U4(
// CHECK-DAG: call void @_TANDEM_inline_WU4(
// CHECK-DAG: call i64 @_TANDEM_inline_{{R(fW)?}}U8(
// CHECK-DAG: call void @_TANDEM_inline_WU8(
// CHECK-DAG: call i32 @_TANDEM_inline_RfWU4(
// CHECK-DAG: call void @_TANDEM_inline_WU4(
// CHECK-DAG: call i64 @_TANDEM_inline_RfWU8(
// CHECK-DAG: call void @_TANDEM_inline_WU8(
// CHECK-DAG: call void @_ITM_memcpyRtWn({{.*}}i64 10)
// CHECK-DAG: call void @_ITM_memcpyRnWt({{.*}}i64 10)
// CHECK-DAG: call void @_ITM_memcpyRtWt(ptr @to, ptr @from, i64 40)
// CHECK: ret void
