// A lambda that runs atomically is enforced as a marked function is.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=stm TANDEM_SHORT_SECTIONS=0 %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
#include <tandem/tandem.hpp>
static int counter;
int main() {
  return tandem::atomic([] { return ++counter; });
}
// CHECK: define {{.*}} @"[[ATOMIC:_ZN6tandem6atomic[^"]*]]"(
// CHECK: call {{.*}} @_TANDEM_begin(
// CHECK: define {{.*}} @"[[ATOMIC]].tandem.tm"(
