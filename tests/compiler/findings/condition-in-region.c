// A wait splits its lock region; who signals the variable is told.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json condition-in-section | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static pthread_cond_t unused_one = PTHREAD_COND_INITIALIZER;
static int work;
static void *take(void *unused) {
  pthread_mutex_lock(&lock);
  while (work == 0)
    pthread_cond_wait(&ready, &lock);
  --work;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, take, 0);
  pthread_mutex_lock(&lock);
  ++work;
  pthread_cond_signal(&ready);
  pthread_cond_signal(&unused_one);
  pthread_mutex_unlock(&lock);
  return 0;
}
// CHECK:[[#@LINE-15]]: 'ready' is waited for with 'lock' held: the region before the wait ends there, and region 'take_2' begins when it returns
// CHECK-NEXT:  [[#@LINE-6]]: signalled here
// CHECK-NEXT:1 findings
