// One condition decides about the acquisition and the release, although another thread may change it in between; it may
// be what a function answers. Not the opposite answer, nor a way that leaves before it comes by the condition again.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json missing-unlock | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER, third = PTHREAD_MUTEX_INITIALIZER;
static int shared, beside, n;
static int is_active(void) { return shared && beside; }
static void lock(void) {
  if (is_active())
    pthread_mutex_lock(&m);
}
static void unlock(void) {
  if (is_active())
    pthread_mutex_unlock(&m);
}
static void count(void) {
  lock();
  beside = ++n;
  unlock();
}
static void forget(void) {
  if (is_active())
    pthread_mutex_lock(&other); // here
  beside = ++n;
  if (!is_active())
    pthread_mutex_unlock(&other);
}
static int failing(int locked) {
  if (locked)
    pthread_mutex_lock(&other); // here
  if (beside == n)
    return -1;
  ++n;
  if (locked)
    pthread_mutex_unlock(&other);
  return 0;
}
static int failing_by_answer(void) {
  if (is_active())
    pthread_mutex_lock(&third); // here
  if (beside == n)
    return -1;
  ++n;
  if (is_active())
    pthread_mutex_unlock(&third);
  return 0;
}
static void *work(void *unused) {
  if (shared)
    pthread_mutex_lock(&m);
  ++n;
  if (shared)
    pthread_mutex_unlock(&m);
  shared = 1;
  count();
  forget();
  failing(shared);
  failing_by_answer();
  return unused;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  return 0;
}
// CHECK:24: 'other' is acquired here, and 'forget' may return without releasing it
// CHECK-NEXT:  26: it is still held on this way to the end
// CHECK-NEXT:  27: it is released here on another way
// CHECK-NEXT:31: 'other' is acquired here, and 'failing' may return without releasing it
// CHECK-NEXT:  37: it is still held on this way to the end
// CHECK-NEXT:  36: it is released here on another way
// CHECK-NEXT:41: 'third' is acquired here, and 'failing_by_answer' may return without releasing it
// CHECK-NEXT:  47: it is still held on this way to the end
// CHECK-NEXT:  46: it is released here on another way
// CHECK-NEXT:3 findings
