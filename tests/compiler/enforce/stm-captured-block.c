// stm: an address that gets known in the block of the allocation is known in all blocks after that, though not in the
// next round of a loop, which allocates again.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
#include <stdlib.h>
#include <tandem/tandem.h>
struct node {
  long value;
  long more;
};
static long total;
__attribute__((noinline)) static void set(struct node *node) { node->value = 5; }
__attribute__((noinline)) static long get(struct node *node) { return node->value; }
__attribute__((noinline)) static void count(void) { total++; }
TANDEM_ATOMIC void once(int c) {
  count(); // or it would be allocated before the section
  struct node *made = malloc(sizeof *made);
  made->value = 1;
  set(made);
  if (c)
    made->value = 3;
  total += get(made);
}
TANDEM_ATOMIC void loop(int n) {
  struct node *made;
  count();
  do {
    made = malloc(sizeof *made);
    made->value = 4;
    set(made);
    while (total > n) {
      made->value = 6;
      total -= get(made);
    }
  } while (--n > 0);
  made->more = 7;
}
// The allocation's block is a loop: what one round tells, the next one's object is not.
TANDEM_ATOMIC void anew(int n) {
  for (; n > 0; --n) {
    struct node *made = malloc(sizeof *made);
    made->value = 8;
    if (n & 1)
      made->more = 9;
    set(made);
  }
}
int main(int argc, char **argv) {
  once(argc);
  loop(argc);
  anew(argc);
  return argv == NULL;
}
// CHECK-LABEL: define internal {{.*}}@once.tandem.tm(
// CHECK: store i64 1,
// CHECK: call void @set.tandem.tm(
// CHECK-NOT: store i64 3,
// CHECK: call void @_TANDEM_inline_WU8(ptr {{.*}}, i64 3, ptr %thread)
// CHECK-LABEL: define internal {{.*}}@loop.tandem.tm(
// CHECK: store i64 4,
// CHECK: call void @set.tandem.tm(
// CHECK-NOT: store i64 {{[67]}},
// CHECK: call void @_TANDEM_inline_WU8(ptr {{.*}}, i64 6, ptr %thread)
// CHECK-NOT: store i64 7,
// CHECK: call void @_TANDEM_inline_WU8(ptr {{.*}}, i64 7, ptr %thread)
// CHECK-LABEL: define internal {{.*}}@anew.tandem.tm(
// CHECK: store i64 8,
// CHECK: store i64 9,
// CHECK: call void @set.tandem.tm(
