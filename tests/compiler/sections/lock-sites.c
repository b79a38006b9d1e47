// Every site of the program is listed: with the sections it begins or ends, or with the reason.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json > %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
#include <pthread.h>
static pthread_mutex_t mutex;
static pthread_cond_t changed;
static int x;
static void acquire(void) { pthread_mutex_lock(&mutex); }
static void finish(void) {
  ++x;
  pthread_mutex_unlock(&mutex);
  pthread_cond_signal(&changed);
}
static void stray(pthread_mutex_t *other) {
  ++x;
  pthread_mutex_unlock(other);
}
int main(void) {
  acquire();
  while (!x)
    pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  acquire();
  finish();
  stray(&mutex);
  return 0;
}
// CHECK: site line [[#@LINE-20]] acquire: lock pthread-mutex mutex: inside a wrapper of the operation: its callers are the sites
// CHECK-NEXT: site line [[#@LINE-10]] main: lock pthread-mutex mutex: main_1
// CHECK-NEXT: site line [[#@LINE-9]] main: wait pthread-mutex mutex: main_1 main_2
// CHECK-NEXT: site line [[#@LINE-9]] main: unlock pthread-mutex mutex: main_1 main_2
// CHECK-NEXT: site line [[#@LINE-9]] main: lock pthread-mutex mutex: main_3
// CHECK-NEXT: site line [[#@LINE-9]] main: signal pthread-cond changed: wakes waiters and holds no lock itself
// CHECK-NEXT: site line [[#@LINE-10]] main: unlock pthread-mutex mutex: main_3
// CHECK-NEXT: site line [[#@LINE-10]] main: unlock pthread-mutex mutex: no acquisition in the function reaches it
// CHECK-NOT: site
