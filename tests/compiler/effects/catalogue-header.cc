// What a header of C++ defines is in each file that includes it, though the linker keeps the first.
// RUN: echo 'version = 1' > %t.toml
// RUN: echo '[functions]' >> %t.toml
// RUN: echo 'irrevocable = ["(other source file)"]' >> %t.toml
// RUN: %cxx %S/Inputs/header-function.cc > %t.one.ll
// RUN: %cxx %s > %t.two.ll
// RUN: %link %t.one.ll %t.two.ll > %t.in.ll
// RUN: env TANDEM_ENFORCE=stm TANDEM_CATALOGUE=%t.toml %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include "Inputs/header-function.h"
void elsewhere(int n);
__attribute__((atomic)) void same(int n) { in_header(n); }
__attribute__((atomic)) void other(int n) { elsewhere(n); }
int main(int count, char **) {
  same(count);
  other(count);
}
// CHECK: "name": "same{{.*}}"
// CHECK-NOT: "callee"
// CHECK: "name": "other{{.*}}"
// CHECK: "callee": "elsewhere
