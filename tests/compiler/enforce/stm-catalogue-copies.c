// A copy that the catalogue calls irrevocable makes the transaction irrevocable, also where it is as short as a word.
// RUN: echo 'version = 1' > %t.toml
// RUN: echo '[functions]' >> %t.toml
// RUN: echo 'irrevocable = ["memcpy"]' >> %t.toml
// RUN: %cc %s > %t.in.ll
// RUN: env TANDEM_ENFORCE=stm TANDEM_CATALOGUE=%t.toml %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// RUN: env TANDEM_ENFORCE=stm %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll --check-prefix=BUILTIN
// BUILTIN-NOT: _ITM_changeTransactionMode
#include <string.h>
char a[64], b[64];
int n;
__attribute__((atomic)) void word(int m) {
  if (m > n)
    memcpy(a, b, 8);
}
__attribute__((atomic)) void many(int m) {
  if (m > n)
    memcpy(a, b, m);
}
__attribute__((atomic)) void fill(int m) {
  if (m > n)
    memset(a, 0, m);
}
int main(int count, char **names) {
  (void)names;
  word(count);
  many(count);
  fill(count);
}
// CHECK-LABEL: define internal {{.*}} @word.tandem.tm(
// CHECK: call void @_ITM_changeTransactionMode(i32 0)
// CHECK-LABEL: define internal {{.*}} @many.tandem.tm(
// CHECK: call void @_ITM_changeTransactionMode(i32 0)
// CHECK-NOT: _ITM_changeTransactionMode
// CHECK: call void @llvm.memcpy
// CHECK-LABEL: define internal {{.*}} @fill.tandem.tm(
// CHECK-NOT: _ITM_changeTransactionMode
// CHECK: call void @_ITM_memsetW
