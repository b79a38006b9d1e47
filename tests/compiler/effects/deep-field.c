// A field is found through any number of steps.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static struct { struct { struct { struct { struct { struct { int v[2]; } f; } e; } d; } c; } b; } s[2];
__attribute__((atomic)) void set(int i) { s[i].b.c.d.e.f.v[i] = 1; }
static void *run(void *unused) {
  set(unused != 0);
  return (void *)(long)(s[0].b.c.d.e.f.v[0]);
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], 0);
}
// CHECK: "writes": [
// CHECK-NEXT: "s[].b.c.d.e.f.v[]"
