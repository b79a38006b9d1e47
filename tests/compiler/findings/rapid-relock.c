// A lock that is acquired again right after its release, behind an unlikely condition.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json rapid-relock | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int hits, misses;
void count(int missed) {
  pthread_mutex_lock(&stats_lock);
  ++hits;
  pthread_mutex_unlock(&stats_lock);
  if (missed) {
    pthread_mutex_lock(&stats_lock);
    ++misses;
    pthread_mutex_unlock(&stats_lock);
  }
}
int main(int argc, char **argv) {
  count(argc);
  return 0;
}
// CHECK:[[#@LINE-9]]: 'stats_lock' is acquired again right after its release: one region that covers both costs less, and hides the state between them
// CHECK-NEXT:  [[#@LINE-12]]: released here
// CHECK-NEXT:1 findings
