// A program that waits for conditions runs the transactional versions of its sections even where
// they are alone. Nothing branches to the plain ones, so that they are not built for nothing:
// under stm they are gone before the link optimises, under hybrid they are part of the section.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
// RUN: %cc -DALONE %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s --check-prefix=BOTH
#include <pthread.h>
#include <tandem/tandem.h>
static long counter, ready;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t woken = PTHREAD_COND_INITIALIZER;
TANDEM_ATOMIC long add(long by) { return counter += by * ready; }
static void *run(void *argument) {
  add(1);
#ifndef ALONE
  pthread_mutex_lock(&mutex);
  while (!ready)
    pthread_cond_wait(&woken, &mutex);
  pthread_mutex_unlock(&mutex);
#endif
  return argument;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  add(2);
  return pthread_join(thread, NULL);
}
// 9: instrumented | no abort.
// CHECK: define {{.*}}@add{{(\.tandem\.transaction)?}}(
// CHECK: call i32 @_TANDEM_begin(i32 9, ptr
// CHECK-NEXT: call {{.*}} @add.tandem.tm(
// CHECK-NEXT: br
// CHECK-NOT: call {{.*}} @add.tandem.body(
// BOTH: call i32 @_TANDEM_begin(i32 11, ptr
// BOTH: call {{.*}} @add.tandem.body(
// BOTH: call {{.*}} @add.tandem.tm(
