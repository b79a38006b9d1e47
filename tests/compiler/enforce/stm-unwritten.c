// stm: memory that no section writes is read without barriers, though the program writes it elsewhere; what a
// section frees, or code outside may reach, is not.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
// RUN: %FileCheck %s --check-prefix=REPORT --input-file=%t.json
#include <pthread.h>
#include <stdlib.h>
#include <tandem/tandem.h>
static long limit;
static long total;
static long *table;
static long *scratch;
long known_outside; // exported by %library only
TANDEM_ATOMIC static long add(long at) {
  total += limit;
  total += table[at];
  total += *scratch;
  free(scratch);
  scratch = NULL;
  return total;
}
TANDEM_ATOMIC static long look(void) { return known_outside; }
static void *run(void *argument) {
  add((long)argument);
  look();
  return argument;
}
int main(int argc, char **argv) {
  limit = argc;
  table = calloc(8, sizeof *table);
  table[1] = 2;
  scratch = malloc(sizeof *scratch);
  *scratch = argv == NULL;
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  add(1);
  limit = 0; // a race of the program's own
  return pthread_join(thread, NULL);
}
// CHECK-LABEL: define internal i64 @add.tandem.tm(
// CHECK: load i64, ptr @limit
// CHECK: call i64 @_TANDEM_inline_{{R(fW)?}}U8(ptr @total, ptr %thread)
// CHECK: load ptr, ptr @table
// CHECK: getelementptr
// CHECK: load i64, ptr
// CHECK: call i64 @_TANDEM_inline_{{R(fW)?}}U8(ptr @scratch, ptr %thread)
// CHECK: call i64 @_TANDEM_inline_{{R(fW)?}}U8(ptr %
// CHECK: call void @_ITM_free(
// REPORT: "unwritten": 3,
// RUN: %cc %s | env TANDEM_ENFORCE=stm %library | %FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE-LABEL: define internal i64 @look.tandem.tm(
// OUTSIDE: call i64 @_TANDEM_inline_{{R(fW)?}}U8(ptr @known_outside, ptr %thread)
