// Accesses to volatile variables are as any other, unless the catalogue says that they cannot be undone; those of a variable
// that only its own function can reach never are.
// RUN: echo 'version = 1' > %t.toml
// RUN: echo '[functions]' >> %t.toml
// RUN: echo 'irrevocable = ["(volatile access)"]' >> %t.toml
// RUN: %cc %s > %t.in.ll
// RUN: env TANDEM_ENFORCE=stm TANDEM_CATALOGUE=%t.toml %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
// RUN: %FileCheck %s --input-file=%t.ll --check-prefix=CODE
// RUN: env TANDEM_ENFORCE=stm %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json --check-prefix=BUILTIN
// RUN: env TANDEM_ENFORCE=none TANDEM_CATALOGUE=papers %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json --check-prefix=BUILTIN
// BUILTIN-NOT: "callee"
volatile int now;
int plain;
__attribute__((atomic)) void reads(int n) {
  if (n > plain)
    plain = now;
}
__attribute__((atomic)) void always(void) { ++plain, now = 1; }
__attribute__((atomic)) int own(int n) {
  volatile int local = n;
  return local + plain;
}
int main(int count, char **names) {
  (void)names;
  reads(count);
  always();
  return own(count);
}
// CHECK: "name": "reads"
// CHECK: "class": "non-revocable"
// CHECK: "irrevocable_at": "reach"
// CHECK: "callee": "(volatile access)"
// CHECK: "name": "always"
// CHECK: "irrevocable_at": "reach"
// CHECK: "name": "own"
// CHECK-NOT: "callee"
// CODE-LABEL: define internal {{.*}} @reads.tandem.tm(
// CODE: call void @_ITM_changeTransactionMode(i32 0)
// CODE-NEXT: load volatile i32, ptr @now
