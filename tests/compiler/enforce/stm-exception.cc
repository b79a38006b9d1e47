// stm: an exception that leaves a section commits it.
// RUN: %cxx %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
static int counter;
struct failure {};
__attribute__((atomic)) void tick(bool fail) {
  ++counter;
  if (fail)
    throw failure();
}
int main(int argc, char **) {
  try {
    tick(argc > 1);
  } catch (const failure &) {
    return 1;
  }
  return 0;
}
// CHECK-LABEL: define {{.*}}@_Z4tickb(
// CHECK: invoke void @_Z4tickb.tandem.tm(
// CHECK: landingpad
// CHECK-NEXT: cleanup
// CHECK: call void @_ITM_commitTransactionEH(ptr %{{.*}})
// CHECK-NEXT: resume
