// Memory that is no structure's may be one type now and another later (C11 6.5, paragraph 6).
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
#include <stdlib.h>
static void *scratch;
__attribute__((atomic)) void longs(long value) {
  long *at = scratch;
  for (int i = 0; i < 8; ++i)
    at[i] = value;
}
__attribute__((atomic)) void doubles(double value) {
  double *at = scratch;
  for (int i = 0; i < 8; ++i)
    at[i] = value;
}
static void *run(void *unused) {
  longs(1);
  doubles(1);
  return unused;
}
int main(void) {
  scratch = malloc(64);
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  run(NULL);
  return pthread_join(thread, NULL);
}
// CHECK: "name": "longs"
// CHECK: "conflicts": [
// CHECK: "with": "doubles"
