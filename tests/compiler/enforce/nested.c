// stm: a section called from a section is part of its transaction.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
static int counter;
__attribute__((atomic)) void inner(void) { ++counter; }
__attribute__((atomic)) void outer(void) {
  inner();
  inner();
}
int main(void) {
  outer();
  return counter;
}
// CHECK-LABEL: define internal {{.*}}@outer.tandem.body(
// CHECK-NOT: call {{.*}}@inner()
// CHECK: call void @inner.tandem.body()
// CHECK-LABEL: define internal {{.*}}@outer.tandem.tm(
// CHECK-NOT: call {{.*}}@inner()
// CHECK: call void @inner.tandem.tm()
