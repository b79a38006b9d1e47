// A function with LLVM's linkage available_externally (here glibc's inline putchar) is code of the program: no unseen code calls this body, and
// what it returns reaches only the callers that the module has.
// RUN: %cc %s > %t.in.ll
// RUN: %FileCheck %s --check-prefix=IR --input-file=%t.in.ll
// RUN: env TANDEM_ENFORCE=none TANDEM_CATALOGUE=deferred-output %library < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
// IR: define available_externally {{.*}} @write_line(
// IR: define available_externally {{.*}} @reset(
#include <stdio.h>
extern inline __attribute__((gnu_inline)) int write_line(const char *text) { return puts(text); }
extern inline __attribute__((gnu_inline)) int write_or_not(const char *text) { return puts(text); }
extern inline __attribute__((gnu_inline)) void reset(long *what) { *what = 0; }
static long own;
long others, failed;
__attribute__((atomic)) void a_ignores(void) { write_line("text"); }
__attribute__((atomic)) void b_looks(void) {
  if (write_or_not("text") < 0)
    ++failed;
}
__attribute__((atomic)) void c_resets(void) { reset(&own); }
__attribute__((atomic)) void d_reads(void) { failed += others; }
// CHECK: "name": "a_ignores{{(\(\))?}}"
// CHECK: "class": "pure"
// CHECK: "name": "b_looks{{(\(\))?}}"
// CHECK: "class": "non-revocable"
// CHECK: "name": "c_resets{{(\(\))?}}"
// CHECK-NOT: "with": "d_reads
// CHECK: "writes": [
// CHECK-NOT: "others"
// CHECK: "name": "d_reads{{(\(\))?}}"
