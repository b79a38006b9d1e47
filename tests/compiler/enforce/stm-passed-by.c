// A transactional clone whose accesses are calls of the runtime passes the compile step's pipeline by and is optimised by
// the link's; one with inlined accesses is optimised by both. A clone's debug information has lines, and no variables.
// RUN: %cc %s | env TANDEM_ENFORCE=stm TANDEM_INLINE_BARRIERS=0 %tandem | %FileCheck %s --check-prefix=LINES
// RUN: %cc %s | env TANDEM_ENFORCE=stm TANDEM_INLINE_BARRIERS=0 TANDEM_SHORT_SECTIONS=0 %optimised 2>%t.log | %FileCheck %s
// RUN: %FileCheck %s --check-prefix=CALLS --input-file=%t.log
// RUN: %cc %s | env TANDEM_ENFORCE=stm TANDEM_SHORT_SECTIONS=0 %optimised 2>%t.log | %FileCheck %s
// RUN: %FileCheck %s --check-prefix=INLINED --input-file=%t.log
static long total;
__attribute__((atomic)) long add(long by) {
  long sum = total * by;
  return total = sum;
}
int main(int argc, char **argv) { return (int)add(argc) + (argv == 0); }
// LINES-LABEL: define {{.*}}@add.tandem.tm(
// LINES-NOT: {{#dbg_|llvm.dbg}}
// LINES: call {{.*}}@_ITM_WU8({{.*}}), !dbg
// LINES-LABEL: {{^}}}
// CHECK-LABEL: define {{.*}}@add.tandem.tm(
// CHECK: ret i64
// CHECK-NOT: {{optnone|tandem-passed-by}}
// CALLS: Skipping pass {{.*}} on add.tandem.tm due to optnone
// CALLS: Running pass: GVNPass on add.tandem.tm
// INLINED-NOT: Skipping pass {{.*}} on add.tandem.tm
// INLINED: Running pass: GVNPass on add.tandem.tm
