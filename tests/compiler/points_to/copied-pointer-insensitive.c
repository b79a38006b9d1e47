// A pointer that was copied by memcpy, or byte by byte, is a pointer.
// RUN: %cc %s | env TANDEM_ENFORCE=none TANDEM_POINTS_TO=insensitive %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
#include <string.h>
static struct box {
  int value;
} boxes[2];
static struct box *roots[2] = {&boxes[0], &boxes[1]};
static struct box *by_copy(struct box **from) {
  struct box *to;
  memcpy(&to, from, sizeof to);
  return to;
}
static struct box *by_bytes(struct box **from) {
  struct box *to;
  for (unsigned i = 0; i < sizeof to; ++i)
    ((char *)&to)[i] = ((char *)from)[i];
  return to;
}
__attribute__((atomic)) void copies(void) { by_copy(&roots[1])->value = 1; }
__attribute__((atomic)) void moves(void) { by_bytes(&roots[1])->value = 1; }
static void *run(void *unused) {
  (void)unused;
  copies();
  moves();
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
// CHECK: "name": "copies"
// CHECK: "with": "copies"
// CHECK: "with": "moves"
// CHECK: "name": "moves"
// CHECK: "with": "moves"
