// Joins in a loop whose bound is an argument count where all callers give it and the loop comes to each thread that the
// other one creates; a loop that begins later, or ends sooner, leaves one.
// RUN: %cc -std=gnu89 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access > %t.txt
// RUN: %python %S/print.py %t.json possible-race >> %t.txt
// RUN: %FileCheck %s < %t.txt
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
#define KIND(NAME, FROM, MADE, JOINED)                                                                                 \
  static long n##NAME;                                                                                                 \
  static pthread_t t##NAME[8];                                                                                         \
  static void *work##NAME(void *unused) {                                                                              \
    pthread_mutex_lock(&m);                                                                                            \
    ++n##NAME;                                                                                                         \
    pthread_mutex_unlock(&m);                                                                                          \
    return unused;                                                                                                     \
  }                                                                                                                    \
  static void start##NAME(int n) {                                                                                     \
    int i;                                                                                                             \
    for (i = 0; i MADE n; ++i)                                                                                         \
      pthread_create(&t##NAME[i], 0, work##NAME, 0);                                                                   \
  }                                                                                                                    \
  static void join##NAME(int n) {                                                                                      \
    int i;                                                                                                             \
    for (i = FROM; i JOINED n; ++i)                                                                                    \
      pthread_join(t##NAME[i], 0);                                                                                     \
  }
KIND(all, 0, <, <)
KIND(first, 1, <, <)
KIND(last, 0, <=, <)
KIND(more, 0, <, <=)
static void join_others(n) int n;
{
  int i;
  for (i = 0; i < n; ++i)
    pthread_join(tall[i], 0);
}
int main(int argc, char **argv) {
  startall(4), joinall(4);
  ++nall;
  startfirst(4), joinfirst(4);
  ++nfirst;
  startlast(4), joinlast(4);
  ++nlast;
  startmore(4), joinmore(4);
  ++nmore;
  if (argc > 9)
    join_others(); /* too few arguments: a mistake of the program, and no reason to end */
  return !argv;
}
// CHECK: 'nfirst'
// CHECK: 'nlast'
// CHECK: {{^}}2 findings
// CHECK-NEXT: {{^}}0 findings
