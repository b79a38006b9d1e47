// Who leaves a scope by `goto`, and then joins, has joined: the compiler's clean-up of the scope is followed. Another
// thread is still there.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long joined, left;
static void *in_joined(void *unused) {
  pthread_mutex_lock(&m);
  ++joined;
  pthread_mutex_unlock(&m);
  return unused;
}
static void *in_left(void *unused) {
  pthread_mutex_lock(&m);
  ++left;
  pthread_mutex_unlock(&m);
  return unused;
}
static pthread_t one, two;
static void finish_one(void) { pthread_join(one, 0); }
static int join_always(void) {
  char line[80];
  pthread_create(&one, 0, in_joined, 0);
  for (long round = 0;; ++round) {
    char *end;
    long number;
    if (!fgets(line, sizeof line, stdin))
      break;
    for (int i = 0; i < 2; ++i) {
      long first = strtol(line, &end, 0);
      if (first == 0)
        continue;
      if (first > i)
        goto out;
      if (sscanf(end, "%ld", &number) == 1)
        break;
    }
  }
  puts("all read");
out:
  finish_one();
  if (line[0])
    return -1;
  return 0;
}
static int join_another(void) {
  char line[80];
  pthread_create(&two, 0, in_left, 0);
  pthread_create(&one, 0, in_joined, 0);
  for (long round = 0;; ++round) {
    char *end;
    long number;
    if (!fgets(line, sizeof line, stdin))
      break;
    for (int i = 0; i < 2; ++i) {
      long first = strtol(line, &end, 0);
      if (first == 0)
        continue;
      if (first > i)
        goto out;
      if (sscanf(end, "%ld", &number) == 1)
        break;
    }
  }
  puts("all read");
out:
  finish_one();
  if (line[0])
    return -1;
  return 0;
}
int main(void) {
  const int failed = join_always();
  ++joined;
  join_another();
  ++left;
  return failed;
}
// CHECK:79: 'left' is written here outside all sections, and written in section 'in_left_1'
// CHECK-NEXT:  18: written here in section 'in_left_1'
// CHECK-NEXT:1 findings
