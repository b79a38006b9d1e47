// stm: what a section allocates whatever it finds is allocated before it begins, through small functions, too. The rest is
// short: an entry that is put into a list.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// RUN: %FileCheck %s --check-prefix=NOT --input-file=%t.ll
// RUN: %cc %s | env TANDEM_ENFORCE=stm TANDEM_CATALOGUE=papers %tandem | %FileCheck %s --check-prefix=STAYS
#include <stdlib.h>
#include <tandem/tandem.h>
struct entry {
  struct entry *next;
  long value;
};
struct entry *lists[4];
long count, sizes[4];
static void *allocate(size_t bytes) {
  void *memory = malloc(bytes);
  if (memory == NULL)
    __builtin_trap();
  return memory;
}
static void put(struct entry **list, long value) {
  struct entry *before = *list;
  struct entry *made = allocate(sizeof *made);
  made->next = before;
  made->value = value;
  *list = made;
}
TANDEM_ATOMIC void insert(struct entry **list, long value) { put(list, value); }
// The transaction needs no barriers for it until its address is in the list.
TANDEM_ATOMIC void insert_all(struct entry **list, long value) {
  struct entry *made = allocate(sizeof *made);
  for (int i = 0; i < 4; ++i)
    made->value = sizes[i] + value;
  made->next = *list;
  *list = made;
  made->value = 0;
}
// What is left of an attempt would be found there.
TANDEM_ATOMIC void insert_zeros(struct entry **list) {
  struct entry *made = calloc(1, sizeof *made);
  made->next = *list;
  *list = made;
}
// Not always; as many bytes as another section may say; what is called first may tell the difference.
TANDEM_ATOMIC void insert_new(long value) {
  if (lists[0] == NULL || lists[0]->value != value)
    put(&lists[0], value);
}
TANDEM_ATOMIC void resize(int i) {
  lists[i] = malloc((size_t)sizes[i]);
  sizes[i]++;
}
TANDEM_ATOMIC void several(int n) {
  for (int i = 0; i < n; ++i)
    put(&lists[1], i);
}
TANDEM_ATOMIC void replace(void) {
  free(lists[2]);
  lists[2] = malloc(sizeof(struct entry));
}
int main(int argc, char **argv) {
  insert(&lists[argc & 3], argc);
  insert_all(&lists[argc & 3], argc);
  insert_zeros(&lists[argc & 3]);
  insert_new(argc);
  resize(argc & 3);
  several(argc);
  replace();
  return 0;
}
// CHECK-LABEL: define {{.*}}@insert(
// CHECK: call {{.*}}@malloc(i64 noundef 16)
// CHECK: call void @insert.tandem.shared(
// CHECK-LABEL: define {{.*}}@insert_all(
// CHECK: call {{.*}}@malloc(i64 noundef 16)
// CHECK: call void @insert_all.tandem.shared(
// CHECK-LABEL: define {{.*}}@main(
// CHECK-LABEL: define internal {{.*}}@insert.tandem.shared(
// CHECK-NOT: malloc
// CHECK: call i64 @_TANDEM_short_begin
// CHECK-NOT: malloc
// CHECK: call void @_TANDEM_short_end
// CHECK-LABEL: define internal {{.*}}@insert_all.tandem.shared.tandem.tm(
// CHECK-NOT: malloc
// CHECK-NOT: call {{.*}}WU8
// CHECK: call i64 @_TANDEM_inline_RU8(
// CHECK: store i64
// CHECK: store ptr
// CHECK: call void @_TANDEM_inline_WU8(
// CHECK: call void @_TANDEM_inline_WU8(ptr {{.*}}, i64 0,
// CHECK: ret void
// NOT-LABEL: define {{.*}}@insert_zeros(
// NOT-NOT: call {{.*}}@calloc(
// NOT-LABEL: define {{.*}}@insert_new(
// NOT-NOT: call {{.*}}@malloc(
// NOT-LABEL: define {{.*}}@resize(
// NOT-NOT: call {{.*}}@malloc(
// NOT-LABEL: define {{.*}}@several(
// NOT-NOT: call {{.*}}@malloc(
// NOT-LABEL: define {{.*}}@replace(
// NOT-NOT: call {{.*}}@malloc(
// NOT-LABEL: define {{.*}}@main(
// STAYS-NOT: @insert.tandem.shared
