// A character may be a part of anything: it meets the wider member that it lies in.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
#include <stdlib.h>
struct address {
  long tag;
  unsigned ip;
};
struct bytes {
  unsigned char a, b, c, d;
};
static struct address *shared;
__attribute__((atomic)) void part(void) { ++((struct bytes *)&shared->ip)->b; }
__attribute__((atomic)) void whole(void) { ++shared->ip; }
static void *run(void *unused) {
  part();
  whole();
  return unused;
}
int main(void) {
  shared = calloc(1, sizeof *shared);
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  run(NULL);
  return pthread_join(thread, NULL);
}
// CHECK: "name": "part"
// CHECK: "conflicts": [
// CHECK: "with": "whole"
// CHECK: "name": "whole"
