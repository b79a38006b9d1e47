// Not reported: a function that releases its caller's lock and acquires it again before it returns. Reported: one that acquired
// the lock itself, and returns after it has released and acquired it again.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json missing-unlock | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items, pause_after;
static void crawl(void) {
  while (items-- > 0) {
    if (items % 7 == pause_after) {
      pthread_mutex_unlock(&lock);
      usleep(1);
      pthread_mutex_lock(&lock);
    } else if (pause_after == 0) {
      pthread_mutex_unlock(&lock);
      pthread_mutex_lock(&lock);
    }
  }
}
static pthread_mutex_t other_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static void crawl_alone(void) {
  pthread_mutex_lock(&other_lock);
  while (items-- > 0) {
    pthread_mutex_unlock(&other_lock);
    usleep(1);
    pthread_mutex_lock(&other_lock);
    if (items == pause_after)
      return;
  }
  pthread_mutex_unlock(&other_lock);
}
static void *work(void *unused) {
  pthread_mutex_lock(&lock);
  while (items >= 0) {
    pthread_cond_wait(&more, &lock);
    crawl();
  }
  pthread_mutex_unlock(&lock);
  return unused;
}
int main(void) {
  pthread_t one, other;
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  crawl_alone();
  pthread_join(one, 0);
  pthread_join(other, 0);
}
// CHECK:28: 'other_lock' is acquired here, and 'crawl_alone' may return without releasing it
// CHECK-NEXT:  30: it is still held on this way to the end
// CHECK-NEXT:  26: it is released here on another way
// CHECK-NEXT:1 findings
