// Two pointers copied as one integer or one vector are two pointers.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
#include <stdlib.h>
typedef long two __attribute__((vector_size(16), may_alias));
struct pair {
  long *first, *second;
} __attribute__((aligned(16)));
static struct pair from, by_vector;
static __int128 packed;
static long *counter;
__attribute__((atomic)) void direct(void) { ++*counter; }
__attribute__((atomic)) void vector(void) { ++*by_vector.second; }
__attribute__((atomic)) void integer(void) { ++*(long *)(unsigned long)(packed >> 64); }
static void *run(void *unused) {
  direct();
  vector();
  integer();
  return unused;
}
int main(void) {
  counter = malloc(sizeof *counter);
  from.second = counter;
  *(two *)&by_vector = *(const two *)&from;
  packed = (__int128)(unsigned long)counter << 64;
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  run(NULL);
  return pthread_join(thread, NULL);
}
// CHECK: "name": "direct"
// CHECK: "conflicts": [
// CHECK-DAG: "with": "vector"
// CHECK-DAG: "with": "integer"
// CHECK: "name": "vector"
