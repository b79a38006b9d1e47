// Wrappers stand for the lock's operations; two ways to one acquisition are one finding.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json rapid-relock | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int hits, misses;
static void stats_acquire(void) { pthread_mutex_lock(&stats_lock); }
static void stats_release(void) { pthread_mutex_unlock(&stats_lock); }
void count(int missed) {
  stats_acquire();
  if (missed) {
    ++misses;
    stats_release();
  } else {
    ++hits;
    stats_release();
  }
  stats_acquire();
  ++hits;
  stats_release();
}
int main(int argc, char **argv) {
  count(argc);
  return 0;
}
// CHECK:[[#@LINE-8]]: 'stats_lock' is acquired again right after its release: one region that covers both costs less, and hides the state between them
// CHECK-NEXT:  [[#@LINE-14]]: released here
// CHECK-NEXT:  [[#@LINE-12]]: released here
// CHECK-NEXT:1 findings
