// stm: what a section has allocated itself needs no barriers until another function or memory knows its address;
// also where a function of the program hands it out. Not what a function takes from a pool.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
#include <stddef.h>
#include <stdlib.h>
#include <tandem/tandem.h>
struct node {
  struct node *next;
  long value;
  long more;
};
static struct node *head;
static struct node pool[8];
static int used;
__attribute__((noinline)) static void fill(struct node *node) { node->more = 3; }
static struct node *make(long value) {
  struct node *made = malloc(sizeof *made);
  if (made == NULL)
    return NULL;
  made->value = value;
  return made;
}
static struct node *from_pool(void) { return &pool[used++]; }
__attribute__((noinline)) static void count(void) { used++; }
TANDEM_ATOMIC void add(long value) {
  count(); // or it would be allocated before the section
  struct node *made = make(value);
  if (made == NULL)
    return;
  made->more = 1;
  made->next = head;
  head = made;
  made->value = 2;
}
TANDEM_ATOMIC void add_filled(void) {
  count();
  struct node *made = malloc(sizeof *made);
  made->value = 7;
  fill(made);
  made->next = head;
  head = made;
}
TANDEM_ATOMIC void add_from_pool(void) {
  struct node *taken = from_pool();
  taken->value = 8;
}
// An element of the list stays known while the next one is made.
TANDEM_ATOMIC void add_many(long count) {
  struct node *last = NULL;
  for (long i = 0; i < count; ++i) {
    struct node *made = malloc(sizeof *made);
    made->value = 9;
    if (last != NULL)
      last->more = 10;
    head = made;
    last = made;
  }
}
int main(int argc, char **argv) {
  add(argc);
  add_filled();
  add_from_pool();
  add_many(argc);
  return argv == NULL;
}
// CHECK-LABEL: define internal {{.*}}@add.tandem.tm(
// CHECK: %[[MADE:.*]] = call ptr @make.tandem.tm(
// CHECK: %[[MORE:.*]] = getelementptr {{.*}} %[[MADE]], i64 16
// CHECK: store i64 1, ptr %[[MORE]]
// CHECK: call i64 @_TANDEM_inline_{{R(fW)?}}U8(ptr @head, ptr %thread)
// CHECK-NOT: call void @_ITM_W
// CHECK: store ptr %{{.*}}, ptr %[[MADE]]
// CHECK: call void @_TANDEM_inline_WU8(ptr @head,
// CHECK: call void @_TANDEM_inline_WU8(ptr %{{.*}}, i64 2, ptr %thread)
// CHECK-LABEL: define internal {{.*}}@add_filled.tandem.tm(
// CHECK: store i64 7,
// CHECK: call void @fill.tandem.tm(
// CHECK: call i64 @_TANDEM_inline_{{R(fW)?}}U8(ptr @head, ptr %thread)
// CHECK-NOT: store
// CHECK: call void @_TANDEM_inline_WU8(ptr %
// CHECK: call void @_TANDEM_inline_WU8(ptr @head,
// CHECK-LABEL: define internal {{.*}}@add_from_pool.tandem.tm(
// CHECK: call void @_TANDEM_inline_WU8(ptr {{.*}}, i64 8, ptr %thread)
// CHECK-LABEL: define internal {{.*}}@add_many.tandem.tm(
// CHECK: store i64 9,
// CHECK: call void @_TANDEM_inline_WU8(ptr {{.*}}, i64 10, ptr %thread)
// CHECK: call void @_TANDEM_inline_WU8(ptr @head,
// CHECK-LABEL: define internal {{.*}}@make.tandem.tm(
// CHECK: call {{.*}}ptr @_ITM_malloc(
// CHECK: store i64 %value,
