// A question whether an address is null is answered by an acquisition only where it is the address of the lock that
// was acquired, also in a loop whose variables have one value each.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem | %FileCheck %s
#include <pthread.h>
pthread_mutex_t *next(int i);
void there(void), nowhere(void), held(void), not_held(void);
// The address of an earlier turn.
// CHECK-LABEL: define {{.*}}@earlier(
// CHECK: call void @nowhere()
static void earlier(int rounds) {
  pthread_mutex_t *q, *p;
  for (int i = 0; i < rounds; ++i) {
    q = next(i);
    if (i & 1) {
      pthread_mutex_lock(q);
      if (p)
        there();
      else
        nowhere();
      pthread_mutex_unlock(q);
    } else {
      p = q;
    }
  }
}
// The same with the two the other way round.
// CHECK-LABEL: define {{.*}}@of_earlier(
// CHECK: call void @nowhere()
static void of_earlier(int rounds) {
  pthread_mutex_t *q, *p;
  for (int i = 0; i < rounds; ++i) {
    q = next(i);
    if (i & 1) {
      pthread_mutex_lock(p);
      if (q)
        there();
      else
        nowhere();
      pthread_mutex_unlock(p);
    } else {
      p = q;
    }
  }
}
// CHECK-LABEL: define {{.*}}@same(
// CHECK: call void @held()
// CHECK-NOT: call void @not_held()
// CHECK: ret void
static void same(int rounds) {
  for (int i = 0; i < rounds; ++i) {
    pthread_mutex_t *q = next(i);
    pthread_mutex_t *p = q;
    pthread_mutex_lock(q);
    if (p)
      held();
    else
      not_held();
    pthread_mutex_unlock(q);
  }
}
int main(int argc, char **argv) {
  (void)argv;
  earlier(argc);
  of_earlier(argc);
  same(argc);
  return 0;
}
