// A lock whose data it guards: short ones hold the word of the lock, begun and ended inline; transactions enter it
// where the program acquires it, also in a section of another lock. Plain code does neither.
// RUN: %cc %s > %t.in.ll
// RUN: env TANDEM_CONVERT=%S/Inputs/guarded-by.toml TANDEM_ENFORCE=stm TANDEM_INLINE_BARRIERS=0 %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// RUN: %FileCheck %s --input-file=%t.ll --check-prefix=BEGIN
// RUN: env TANDEM_CONVERT=%S/Inputs/guarded-by.toml TANDEM_ENFORCE=stm TANDEM_INLINE_BARRIERS=0 TANDEM_SHORT_SECTIONS=0 \
// RUN:   %tandem < %t.in.ll | %FileCheck %s --check-prefix=LONG
// The program's own locks, in the phase of locks.
// RUN: env TANDEM_CONVERT=%S/Inputs/guarded-by.toml TANDEM_ENFORCE=hybrid TANDEM_INLINE_BARRIERS=0 %tandem < %t.in.ll \
// RUN:   | %FileCheck %s --check-prefix=HYBRID
// RUN: env TANDEM_CONVERT=%S/Inputs/guarded-by.toml TANDEM_ENFORCE=global-lock %tandem < %t.in.ll \
// RUN:   | %FileCheck %s --check-prefix=NONE
#include <pthread.h>
struct account {
  long balance;
  pthread_mutex_t own;
} accounts[4];
static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static long moves;

__attribute__((noinline)) static void pay(struct account *account) {
  pthread_mutex_lock(&account->own);
  account->balance += 3;
  pthread_mutex_unlock(&account->own);
}

__attribute__((noinline)) static void pay_in(struct account *account) {
  pthread_mutex_lock(&all);
  ++moves;
  pthread_mutex_lock(&account->own);
  account->balance += 5;
  pthread_mutex_unlock(&account->own);
  pthread_mutex_unlock(&all);
}

static void *work(void *unused) {
  (void)unused;
  pay(&accounts[1]);
  pay_in(&accounts[2]);
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  work(0);
  return pthread_join(thread, 0);
}
// CHECK-LABEL: define internal void @pay.tandem.block(ptr %own
// CHECK: %word = call i64 @_TANDEM_inline_short_begin_guarded_by(ptr null, ptr %own)
// CHECK: store i64 {{.*}}, ptr %account
// CHECK: call void @_TANDEM_inline_short_end_guarded_by(i64 %word)
// CHECK-LABEL: define internal void @pay.tandem.block.tandem.body(
// CHECK-NOT: _TANDEM_guarded_by
// CHECK-LABEL: define internal void @pay.tandem.block.tandem.tm(ptr %own
// CHECK: call i32 @_TANDEM_guarded_by_only(
// CHECK: call i32 @[[ENTER:tandem.guarded_by.tandem.converted.plain.acquire.tandem.tm]](ptr %own)
// CHECK: call void @_TANDEM_add_8(ptr %account
// CHECK-LABEL: define internal void @pay_in.tandem.block.tandem.tm(
// CHECK-NOT: _TANDEM_guarded_by_only
// CHECK: call i32 @[[ENTER]](ptr {{.*}}%own)
// CHECK: define internal i32 @[[ENTER]](
// CHECK: call i32 @_TANDEM_guarded_by_enter(
// CHECK-NOT: @_TANDEM_guarded_by_acquire
// CHECK-NOT: @_TANDEM_guarded_by_other
// LONG-NOT: _TANDEM_inline_short_
// LONG: call i32 @_TANDEM_guarded_by_enter(
// LONG-NOT: _TANDEM_inline_short_
// HYBRID-LABEL: define internal void @pay.tandem.block.tandem.tm(
// HYBRID: call i32 @_TANDEM_guarded_by_enter(
// HYBRID-LABEL: define internal {{.*}}@_TANDEM_inline_phase_lock(
// NONE-NOT: _TANDEM_guarded_by
// NONE-NOT: _TANDEM_inline_short
// A begin says that it is one of such a lock (65,536), and has code for that (131,072); that of another's section does
// not.
// BEGIN-DAG: call i32 @_TANDEM_begin(i32 11, ptr @tandem.section.pay_in_1)
// BEGIN-DAG: call i32 @_TANDEM_begin(i32 196619, ptr @tandem.section.pay_1)
