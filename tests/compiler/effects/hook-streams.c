// Where a program has streams of its own, all functions of streams may run it.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
static long x;
static ssize_t put(void *cookie, const char *from, size_t size) {
  x++;
  return size;
}
static FILE *file;
__attribute__((atomic)) void mine(void) { x++; }
__attribute__((atomic)) void theirs(void) { fputs("x", file); }
static void *run(void *unused) {
  theirs();
  return unused;
}
int main(void) {
  file = fopencookie(0, "w", (cookie_io_functions_t){.write = put});
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  mine();
  return pthread_join(thread, 0);
}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
