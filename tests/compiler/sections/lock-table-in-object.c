// A table of lock functions that objects point to: calls through them are not followed, and the table is listed. One that
// all calls find by its name is not.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json | %FileCheck %s
#include <pthread.h>
struct operations {
  int (*lock)(pthread_mutex_t *);
  int (*unlock)(pthread_mutex_t *);
};
static const struct operations handed = {pthread_mutex_lock, pthread_mutex_unlock};
static const struct operations named = {pthread_mutex_lock, pthread_mutex_unlock};
struct device {
  const struct operations *operations;
  pthread_mutex_t mutex;
  long n;
};
static struct device device = {&handed, PTHREAD_MUTEX_INITIALIZER, 0};
static void add(struct device *to) {
  to->operations->lock(&to->mutex);
  ++to->n;
  to->operations->unlock(&to->mutex);
}
int main(void) {
  add(&device);
  named.lock(&device.mutex);
  ++device.n;
  named.unlock(&device.mutex);
  return 0;
}
// CHECK: section main_1 lock-region line [[#@LINE-5]]: mutex pthread-mutex device.mutex, 1 exits, same-function
// CHECK: site line [[#@LINE-21]] handed: lock pthread-mutex ?: the address of pthread_mutex_lock is taken: calls by pointer are not followed
// CHECK-NOT: ?: the address
