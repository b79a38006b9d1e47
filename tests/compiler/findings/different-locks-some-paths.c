// What a function may return with counts as held for none of its callers: different-locks needs a lock that is certain on both sides.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json different-locks | %FileCheck %s --match-full-lines --strict-whitespace
// RUN: %python %S/print.py %t.json possible-race | %FileCheck %s --match-full-lines --strict-whitespace --check-prefix=MAYBE
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER, done = PTHREAD_MUTEX_INITIALIZER;
static long certain, maybe;
static int add(int many) {
  pthread_mutex_lock(&queue);
  if (many > 5)
    return -1; // forgets the queue's lock
  ++certain;
  pthread_mutex_unlock(&queue);
  return 0;
}
static void *run(void *unused) {
  pthread_mutex_lock(&done);
  ++certain;
  ++maybe;
  pthread_mutex_unlock(&done);
  return unused;
}
int main(int count, char **arguments) {
  pthread_t thread;
  pthread_create(&thread, 0, run, arguments);
  add(count);
  maybe = 0;
  pthread_join(thread, 0);
  return (int)(certain + maybe);
}
// CHECK:13: 'certain' is written here with 'queue' held, and written with 'done' held: they do not exclude each other
// CHECK-NEXT:  19: written here, by the thread that begins with 'run'
// CHECK-NEXT:  13: written here by the one that begins with 'main'
// CHECK-NEXT:1 findings
// MAYBE:20: 'maybe' is written here with 'done' held, and written with 'queue' held: they do not exclude each other
// MAYBE-NEXT:  28: written here, by the thread that begins with 'main'
// MAYBE-NEXT:  20: written here by the one that begins with 'run'
// MAYBE-NEXT:1 findings
