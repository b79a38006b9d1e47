// An atomic operation that a catalogue says need not be undone is left as it stands only where no section touches the same
// memory by what is none: else a transaction would not meet what the other changes, and neither would say so.
// RUN: echo 'version = 1' > %t.toml
// RUN: echo '[functions]' >> %t.toml
// RUN: echo 'pure = ["(atomic operation)"]' >> %t.toml
// RUN: %cc %s > %t.in.ll
// RUN: env TANDEM_ENFORCE=stm TANDEM_CATALOGUE=%t.toml %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// RUN: %FileCheck %s --input-file=%t.json --check-prefix=REPORT
#include <tandem/tandem.h>
static struct item {
  long references, other;
} one, *some = &one;
static long alone, looked_at, seen;
long known_outside;
void give(long *);
__attribute__((noinline)) static long references_of(const struct item *it) {
  return it->references;
}
__attribute__((atomic)) void take(void) { __sync_add_and_fetch(&some->references, 1); }
__attribute__((atomic)) void look(void) { seen += references_of(some); }
__attribute__((atomic)) void count(void) { __sync_add_and_fetch(&alone, 1); }
__attribute__((atomic)) void write_other(long n) { some->other = n; }
// Two that only read.
__attribute__((atomic)) void peek(void) {
  seen += __atomic_load_n(&looked_at, __ATOMIC_SEQ_CST) + looked_at;
}
// What another output knows, whose sections are not seen here.
__attribute__((atomic)) void exported(void) { __sync_add_and_fetch(&known_outside, 1); }
// Blocks, and memory that is cleared as a whole.
static long cleared[4];
int main(int count_, char **names) {
  (void)names;
  take();
  look();
  count();
  write_other(count_);
  peek();
  exported();
  give(&known_outside);
  tandem_atomic { __sync_add_and_fetch(&cleared[1], 1); }
  tandem_atomic { __builtin_memset(cleared, 0, sizeof cleared); }
  return (int)alone;
}
// CHECK-LABEL: define internal {{.*}} @take.tandem.tm(
// CHECK: call void @_ITM_changeTransactionMode(i32 0)
// CHECK-NEXT: atomicrmw add
// CHECK-LABEL: define internal {{.*}} @count.tandem.tm(
// CHECK-NOT: _ITM_changeTransactionMode
// CHECK: atomicrmw add ptr @alone
// CHECK-LABEL: define internal {{.*}} @peek.tandem.tm(
// CHECK-NOT: _ITM_changeTransactionMode
// CHECK: load atomic
// CHECK-LABEL: define internal {{.*}} @exported.tandem.tm(
// CHECK: call void @_ITM_changeTransactionMode(i32 0)
// CHECK-NEXT: atomicrmw add ptr @known_outside
// CHECK-LABEL: define internal {{.*}} @main.tandem.block.1.tandem.tm(
// CHECK: call void @_ITM_changeTransactionMode(i32 0)
// CHECK-NEXT: atomicrmw add
// REPORT: "name": "take"
// REPORT: "class": "non-revocable"
// REPORT: "callee": "(atomic operation)"
// REPORT: "name": "look"
// REPORT: "class": "pure"
// REPORT: "name": "count"
// REPORT: "class": "pure"
// REPORT: "name": "peek"
// REPORT: "irrevocable_at": "never"
