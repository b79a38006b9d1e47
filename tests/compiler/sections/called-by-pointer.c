// Wrappers that are called by pointer, through a table that changes hands: the acquisition in them is a site with a reason.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json | %FileCheck %s
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
struct operations {
  int (*lock)(void *);
  int (*unlock)(void *);
};
static int lock(void *m) { return pthread_mutex_lock(m); }
// CHECK-DAG: site line [[#@LINE-1]] lock: lock pthread-mutex {{.*}}: inside a wrapper of the operation that may be called by pointer: such calls are not followed
static int unlock(void *m) { return pthread_mutex_unlock(m); }
static const struct operations real = {lock, unlock}, none;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct account {
  const struct operations *by;
  long n;
} account = {&none, 0};
static char line[99];
static void begin(const char *format, ...) {
  pthread_mutex_lock(&m);
  // CHECK-DAG: site line [[#@LINE-1]] begin: lock pthread-mutex m: begin_1begin does not release it, and it takes any number of arguments
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
}
int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1)
    account.by = &real;
  account.by->lock(&m);
  ++account.n;
  account.by->unlock(&m);
  begin("%d", argc);
  pthread_mutex_unlock(&m);
  return 0;
}
