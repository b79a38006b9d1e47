// A finding is about the variable that its line names, although the analysis tells it apart from no other: all that one pointer may point to.
// RUN: %cc %s | env TANDEM_ENFORCE=none TANDEM_POINTS_TO=insensitive %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access > %t.txt
// RUN: %python %S/print.py %t.json possible-race >> %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long often, rarely, inside;
static long *volatile any[] = {&often, &rarely, &inside};
static void *run(void *unused) {
  pthread_mutex_lock(&lock);
  often = 1;
  often = 2;
  often = 3;
  ++*any[often];
  pthread_mutex_unlock(&lock);
  return unused;
}
int main(int count, char **arguments) {
  pthread_t thread;
  pthread_create(&thread, 0, run, arguments);
  rarely = count;
  pthread_join(thread, 0);
  return (int)*any[count];
}
// CHECK-NOT: 'often'
// CHECK: 22: 'rarely' is written here outside all sections
