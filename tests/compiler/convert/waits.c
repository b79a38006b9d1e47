// A wait with a converted lock: the section that has taken a ticket ends, the thread sleeps outside,
// and another section begins. A deadline is read in the section, and asked for before that ends. A
// signal wakes the sleepers, by a call that a transaction makes plainly; the library's is left only
// where somebody waits really.
// RUN: %cc %s > %t.in.ll
// RUN: env TANDEM_CONVERT=%S/Inputs/waits.toml TANDEM_ENFORCE=global-lock \
// RUN:   %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// RUN: env TANDEM_CONVERT=%S/Inputs/waits.toml TANDEM_ENFORCE=stm TANDEM_INLINE_BARRIERS=0 \
// RUN:   %tandem < %t.in.ll > %t.stm.ll
// RUN: %FileCheck %s --check-prefix=STM --input-file=%t.stm.ll
// RUN: %FileCheck %s --check-prefix=REPORT --input-file=%t.json
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, real = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, both = PTHREAD_COND_INITIALIZER;
static int number, other;

__attribute__((noinline)) static void wait_plainly(void) {
  pthread_mutex_lock(&lock);
  while (number == 0)
    pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static int wait_until(const struct timespec *end) {
  pthread_mutex_lock(&lock);
  int result = pthread_cond_timedwait(&both, &lock, end);
  pthread_mutex_unlock(&lock);
  return result;
}

__attribute__((noinline)) static void wait_really(void) {
  pthread_mutex_lock(&real);
  while (other == 0)
    pthread_cond_wait(&both, &real);
  pthread_mutex_unlock(&real);
}

__attribute__((noinline)) static void set(void) {
  pthread_mutex_lock(&lock);
  number = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  pthread_cond_broadcast(&both);
}

static void *work(void *unused) {
  (void)unused;
  wait_plainly();
  wait_really();
  return 0;
}

int main(int argc, char **argv) {
  (void)argv;
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_mutex_lock(&real);
  other = 1;
  pthread_mutex_unlock(&real);
  set();
  struct timespec end = {argc, 0};
  return wait_until(&end) + pthread_join(thread, 0);
}
// CHECK-LABEL: define internal void @set(
// CHECK: store i32 1, ptr @number
// CHECK: call void @_TANDEM_held_signal(ptr @changed)
// CHECK-NOT: pthread_cond_signal
// CHECK: call void @_TANDEM_inline_global_lock_leave(
// CHECK: call void @_TANDEM_held_broadcast(ptr @both)
// CHECK: call i32 @pthread_cond_broadcast(ptr{{.*}} @both)

// The section that follows the wait does not wait: it takes no ticket.
// CHECK-LABEL: define internal i32 @wait_until(
// CHECK: call void @_TANDEM_inline_global_lock_enter(
// CHECK-NEXT: call void @_TANDEM_held_ticket()
// CHECK: %[[END:.*]] = load ptr, ptr %end.addr
// CHECK: load i64, ptr %[[END]]
// CHECK: %[[AT:.*]] = getelementptr i8, ptr %[[END]], i64 8
// CHECK: %[[FRACTION:.*]] = load i64, ptr %[[AT]]
// CHECK: store i32 22, ptr %tandem.woken
// CHECK: icmp ult i64 %[[FRACTION]], 1000000000
// CHECK: call i64 @_TANDEM_held_taken()
// What the sleep has to know of the condition's memory, which may be gone then.
// CHECK: call i32 @_TANDEM_held_attributes(ptr @both)
// CHECK: call void @_TANDEM_inline_global_lock_leave(
// CHECK: call i32 @_TANDEM_held_sleep(ptr @both, i64 %{{.*}}, i32 %{{.*}}, i32 -2, i64 %{{.*}}, i64 %{{.*}})
// CHECK: call void @_TANDEM_inline_global_lock_enter(
// CHECK-NOT: _TANDEM_held_ticket
// CHECK: call void @_TANDEM_inline_global_lock_leave(

// CHECK-LABEL: define internal void @wait_plainly(
// CHECK: call void @_TANDEM_inline_global_lock_enter(
// CHECK-NEXT: call void @_TANDEM_held_ticket()
// CHECK: load i32, ptr @number
// CHECK: %[[TICKET:.*]] = call i64 @_TANDEM_held_taken()
// CHECK: store i64 %[[TICKET]], ptr %tandem.ticket
// CHECK: call void @_TANDEM_inline_global_lock_leave(
// CHECK: %[[TOLD:.*]] = load i64, ptr %tandem.ticket
// CHECK: call i32 @_TANDEM_held_sleep(ptr @changed, i64 %[[TOLD]], i32 %{{.*}}, i32 -1, i64 0, i64 0)
// CHECK: call void @_TANDEM_inline_global_lock_enter(
// CHECK-NEXT: call void @_TANDEM_held_ticket()
// CHECK-NOT: pthread_cond_wait

// CHECK-LABEL: define internal void @wait_really(
// CHECK: call i32 @pthread_mutex_lock(ptr{{.*}} @real)
// CHECK: call i32 @pthread_cond_wait(ptr{{.*}} @both, ptr{{.*}} @real)

// STM: call void @_ITM_WU4(ptr @number, i32 1)
// STM-NEXT: call void @_TANDEM_held_signal(ptr{{.*}} @changed)

// REPORT: "lock_sites": [
// REPORT: "operation": "wait"
// REPORT: "lock": "lock"
// REPORT: "function": "wait_plainly"
// REPORT: "sections": [
// REPORT-NEXT: "wait_plainly_2"
// REPORT: "operation": "signal"
// REPORT: "lock": "changed"
// REPORT: "reason": "converted: wakes those who wait with converted locks"
