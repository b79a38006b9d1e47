// What a catalogue says of atomic operations holds in the program, too: where they need not be undone they stay as they
// are, and the transaction can still be undone.
// RUN: echo 'version = 1' > %t.toml
// RUN: echo '[functions]' >> %t.toml
// RUN: echo 'pure = ["(atomic operation)"]' >> %t.toml
// RUN: %cc %s > %t.in.ll
// RUN: env TANDEM_ENFORCE=stm TANDEM_CATALOGUE=%t.toml %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// RUN: %FileCheck %s --input-file=%t.json --check-prefix=REPORT
// RUN: env TANDEM_ENFORCE=stm %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll --check-prefix=BUILTIN
// RUN: %FileCheck %s --input-file=%t.json --check-prefix=BUILTIN-REPORT
static long n, m;
__attribute__((atomic)) void add(long k) {
  m += k;
  __sync_add_and_fetch(&n, 1);
  __sync_synchronize();
  m -= __atomic_load_n(&n, __ATOMIC_ACQUIRE);
}
int main(void) {
  add(1);
  return 0;
}
// CHECK-LABEL: define internal {{.*}} @add.tandem.tm(
// CHECK-NOT: _ITM_changeTransactionMode
// CHECK: atomicrmw add ptr @n, i64 1 seq_cst
// CHECK-NOT: _ITM_changeTransactionMode
// CHECK: ret void
// REPORT: "irrevocable_at": "never"
// BUILTIN-LABEL: define internal {{.*}} @add.tandem.tm(
// BUILTIN: call void @_ITM_changeTransactionMode(i32 0)
// BUILTIN-NEXT: atomicrmw add
// BUILTIN-REPORT: "callee": "(atomic operation)"
