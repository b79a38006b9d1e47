// Two structures that begin alike are taken for each other.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
struct item {
  struct item *next;
  unsigned short flags;
  long cas;
};
struct chunk {
  struct chunk *next;
  unsigned short flags;
  int used;
};
static struct item one;
static void *volatile any = &one;
__attribute__((atomic)) void as_item(void) { ((struct item *)any)->flags = 1; }
__attribute__((atomic)) void as_chunk(void) { ((struct chunk *)any)->flags = 2; }
static void *run(void *unused) {
  (void)unused;
  as_item();
  as_chunk();
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
// CHECK: "name": "as_chunk"
// CHECK: "conflicts": [
// CHECK: "with": "as_item"
