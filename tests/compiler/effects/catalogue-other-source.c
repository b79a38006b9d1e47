// A catalogue can call functions of other source files unsafe, as they are for a compiler that sees one file at a time.
// RUN: echo 'version = 1' > %t.toml
// RUN: echo '[functions]' >> %t.toml
// RUN: echo 'irrevocable = ["(other source file)"]' >> %t.toml
// RUN: %cc %s > %t.one.ll
// RUN: %cc %S/Inputs/other-source.c > %t.two.ll
// RUN: %link %t.one.ll %t.two.ll > %t.in.ll
// RUN: env TANDEM_ENFORCE=stm TANDEM_CATALOGUE=%t.toml %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
// RUN: %FileCheck %s --input-file=%t.ll --check-prefix=CODE
// RUN: env TANDEM_ENFORCE=stm %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json --check-prefix=BUILTIN
// BUILTIN-NOT: "callee"
int shared;
void elsewhere(int n);
static __attribute__((noinline)) void here(int n) { shared -= n; }
__attribute__((atomic)) void same(int n) { here(n); }
__attribute__((atomic)) void other(int n) {
  if (n > shared)
    elsewhere(n);
}
int main(int count, char **names) {
  (void)names;
  same(count);
  other(count);
}
// CHECK: "name": "same"
// CHECK-NOT: "callee"
// CHECK: "name": "other"
// CHECK: "class": "non-revocable"
// CHECK: "callee": "elsewhere"
// CODE-LABEL: define internal {{.*}} @other.tandem.tm(
// CODE: call void @_ITM_changeTransactionMode(i32 0)
// CODE-NEXT: call void @elsewhere(
