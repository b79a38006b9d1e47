// A region of a converted lock that stays real: sections set and clear the lock's word at its ends,
// and its own code is in none. Another section of the lock ends where it finds the word set, and
// waits outside. What only the region writes is read with a barrier.
// RUN: %cc %s > %t.in.ll
// RUN: env TANDEM_CONVERT=%S/Inputs/lock-region.toml TANDEM_ENFORCE=global-lock \
// RUN:   %tandem < %t.in.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// RUN: env TANDEM_CONVERT=%S/Inputs/lock-region.toml TANDEM_ENFORCE=stm \
// RUN:   TANDEM_INLINE_BARRIERS=0 TANDEM_SHORT_SECTIONS=0 %tandem < %t.in.ll > %t.stm.ll
// RUN: %FileCheck %s --check-prefix=STM --input-file=%t.stm.ll
// A short section that looks leads away where the word is set.
// RUN: env TANDEM_CONVERT=%S/Inputs/lock-region.toml TANDEM_ENFORCE=stm TANDEM_INLINE_BARRIERS=0 \
// RUN:   %tandem < %t.in.ll > %t.short.ll
// RUN: %FileCheck %s --check-prefix=SHORT --input-file=%t.short.ll
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int by_region, by_section;

__attribute__((noinline)) static void really(void) {
  pthread_mutex_lock(&lock);
  ++by_region;
  pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void section(void) {
  pthread_mutex_lock(&lock);
  by_section += by_region;
  pthread_mutex_unlock(&lock);
}

static void *work(void *unused) {
  (void)unused;
  really();
  section();
  return 0;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  work(0);
  return pthread_join(thread, 0);
}
// CHECK-LABEL: define internal void @really(
// CHECK: call void @_TANDEM_inline_global_lock_enter(
// CHECK: call {{.*}}@tandem.looking.
// CHECK: store i32 1, ptr getelementptr (i8, ptr @lock, i64 24)
// CHECK: call void @_TANDEM_inline_global_lock_leave(
// CHECK: call {{.*}}@_TANDEM_held_really(ptr @lock)
// CHECK-NOT: global_lock_enter
// CHECK: store i32 %{{.*}}, ptr @by_region
// CHECK: call void @_TANDEM_inline_global_lock_enter(
// CHECK-NOT: looking
// CHECK: store i32 0, ptr getelementptr (i8, ptr @lock, i64 24)
// CHECK: call void @_TANDEM_inline_global_lock_leave(
// CHECK: call {{.*}}@_TANDEM_held_no_more(ptr @lock)

// CHECK-LABEL: define internal void @section(
// CHECK: [[BUSY:tandem.leave[^:]*]]:
// CHECK: call void @_TANDEM_inline_global_lock_leave(
// CHECK: call void @_TANDEM_held_wait()
// CHECK: br label %[[AGAIN:[^, ]*]]
// CHECK: [[AGAIN]]:
// CHECK: call void @_TANDEM_inline_global_lock_enter(
// CHECK: call {{.*}}@tandem.looking.
// CHECK: %[[BY:.*]] = call ptr @_TANDEM_held_refused()
// CHECK: %[[HELD:.*]] = icmp ne ptr %[[BY]], null
// CHECK: br i1 %[[HELD]], label %[[BUSY]], label
// CHECK-NOT: call {{.*}}@pthread_mutex_lock

// STM: call i32 @_ITM_RU4(ptr @by_region)

// SHORT-LABEL: define internal {{.*}}@section.tandem.block
// SHORT: ptrtoint (ptr getelementptr (i8, ptr @lock, i64 24) to i64)
// SHORT: call i64 @_TANDEM_short_begin(
// SHORT-NOT: _TANDEM_held_refuse
// SHORT: call void @_TANDEM_short_undone(
// SHORT: call void @_TANDEM_short_end(
