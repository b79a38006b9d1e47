// A transaction that comes to no locks but those that guard their data runs code of its own: plain accesses, with a log of
// what is overwritten, the library's own functions where they only read; where it comes to another lock it ends.
// RUN: %cc %s > %t.in.ll
// RUN: env TANDEM_CONVERT=%S/Inputs/guarded-by-code.toml TANDEM_ENFORCE=stm TANDEM_INLINE_BARRIERS=0 %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// RUN: %FileCheck %s --input-file=%t.ll --check-prefix=BEGIN
// RUN: env TANDEM_CONVERT=%S/Inputs/guarded-by-code.toml TANDEM_ENFORCE=htm TANDEM_INLINE_BARRIERS=0 %tandem < %t.in.ll \
// RUN:   | %FileCheck %s --check-prefix=HTM
#include <pthread.h>
#include <string.h>
struct node {
  struct node *next;
  char name[32], copy[32];
  long uses;
  char flag;
};
struct list {
  pthread_mutex_t own;
  struct node *first;
} lists[4];
static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static long found;

__attribute__((noinline)) static void count(void) {
  pthread_mutex_lock(&all);
  ++found;
  pthread_mutex_unlock(&all);
}

__attribute__((noinline)) static struct node *find(struct list *list, const char *name) {
  for (struct node *node = list->first; node; node = node->next)
    if (memcmp(node->name, name, sizeof node->name) == 0)
      return node;
  return 0;
}

__attribute__((noinline)) static long use(struct list *list, const char *name) {
  pthread_mutex_lock(&list->own);
  long uses = -1;
  struct node *node = find(list, name);
  if (node) {
    uses = ++node->uses;
    node->flag = 1;
    memcpy(node->copy, node->name, sizeof node->copy);
    if (uses > 100)
      count();
  }
  pthread_mutex_unlock(&list->own);
  return uses;
}

static void *work(void *name) {
  use(&lists[1], name);
  return 0;
}

int main(int argc, char **argv) {
  pthread_t thread;
  pthread_create(&thread, 0, work, argv[0]);
  work(argv[1]);
  return pthread_join(thread, 0);
}
// Under HTM, whose plain code does not look at what stands for the locks, there is none.
// HTM-NOT: .tandem.guarded_by(

// The log before each store and copy; the acquisition enters.
// CHECK-LABEL: define internal void @use.tandem.block.tandem.guarded_by(
// CHECK-NOT: _TANDEM_guarded_by_only
// CHECK: call i32 @[[ENTER:[a-z_.]*tandem.guarded_by]](ptr
// CHECK: call ptr @find.tandem.guarded_by(
// CHECK: call void @_ITM_LU8(ptr [[USES:%.*]])
// CHECK-NEXT: store i64 {{.*}}, ptr [[USES]]
// CHECK: call void @_ITM_LU1(ptr [[FLAG:%.*]])
// CHECK-NEXT: store i8 1, ptr [[FLAG]]
// CHECK: call void @_ITM_LB(ptr {{.*}}, i64 32)
// CHECK-NEXT: call void @llvm.memcpy
// CHECK: call void @count.tandem.guarded_by(
// CHECK-LABEL: define internal ptr @find.tandem.guarded_by(
// CHECK-NOT: call i64 @_ITM_
// CHECK: load ptr, ptr %node
// CHECK-NOT: _ZGTt
// CHECK: call i32 @memcmp(
// CHECK-NOT: _ITM_
// CHECK: ret ptr

// Behind the other lock's mark nothing is left.
// CHECK-LABEL: define internal void @count.tandem.guarded_by(
// CHECK-NEXT: entry:
// CHECK-NEXT: call void @count.tandem.block.tandem.guarded_by(
// CHECK-LABEL: define internal i32 @tandem.other.tandem.converted.plain.acquire.tandem.guarded_by(
// CHECK: call i32 @_TANDEM_guarded_by_join(
// CHECK-NEXT: unreachable

// Begun so where the answer says so.
// BEGIN: [[ACTION:%.*]] = call i32 @_TANDEM_begin(i32 196619, ptr @tandem.section.use_1)
// BEGIN-NEXT: [[ASKED:%.*]] = and i32 [[ACTION]], 256
// BEGIN-NEXT: [[SO:%.*]] = icmp ne i32 [[ASKED]], 0
// BEGIN-NEXT: br i1 [[SO]], label %guarded_by, label %transactional
// BEGIN: guarded_by:
// BEGIN: call void @use.tandem.block.tandem.guarded_by(
