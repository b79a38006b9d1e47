// Locks that guard different things are in parts of their own, each of which changes its phase by itself; one
// that is acquired with another one's held, or whose data another one's section writes, is in that one's part.
// RUN: %cc %s | env TANDEM_CONVERT=%S/Inputs/parts.toml TANDEM_ENFORCE=hybrid TANDEM_INLINE_BARRIERS=0 %tandem \
// RUN:   | grep -o 'call i32 @_TANDEM_inline_phase_enter(ptr @tandem.section[^,]*, i32 [0-9]' | sort -u \
// RUN:   | %FileCheck %s
#include <pthread.h>
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t reader = PTHREAD_MUTEX_INITIALIZER, alone = PTHREAD_MUTEX_INITIALIZER;
static long by_outer, by_inner, by_alone;

__attribute__((noinline)) static void take_inner(void) {
  pthread_mutex_lock(&inner);
  by_inner += 2;
  pthread_mutex_unlock(&inner);
}

__attribute__((noinline)) static void take_outer(void) {
  pthread_mutex_lock(&outer);
  ++by_outer;
  take_inner();
  pthread_mutex_unlock(&outer);
}

__attribute__((noinline)) static long take_reader(void) {
  pthread_mutex_lock(&reader);
  long seen = by_inner;
  pthread_mutex_unlock(&reader);
  return seen;
}

__attribute__((noinline)) static void take_alone(void) {
  pthread_mutex_lock(&alone);
  by_alone += 3;
  pthread_mutex_unlock(&alone);
}

static void *work(void *argument) {
  take_inner();
  take_outer();
  take_alone();
  return take_reader() == 0 ? argument : 0;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], 0);
  return by_outer != 2 || by_alone != 6;
}
// CHECK-DAG: tandem.section.take_alone{{.*}}, i32 1
// CHECK-DAG: tandem.section.take_inner{{.*}}, i32 0
// CHECK-DAG: tandem.section.take_outer{{.*}}, i32 0
// CHECK-DAG: tandem.section.take_reader{{.*}}, i32 0
