// Locks of an array that one loop takes are released by another loop with the same bounds, in the same or the opposite
// order, also where both ask one question in each round. Not where the second loop ends early, has other bounds, or
// forgets some.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json missing-unlock | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#define COUNT 8
struct slot {
  pthread_mutex_t m;
  int used, value;
};
static struct slot slots[COUNT];
static int count = COUNT, failed;
static int same(void) {
  int sum = 0;
  for (int i = 0; i < count; i++)
    pthread_mutex_lock(&slots[i].m);
  for (int i = 0; i < count; i++)
    sum += slots[i].value;
  for (int i = 0; i < count; i++)
    pthread_mutex_unlock(&slots[i].m);
  return sum;
}
static void opposite(void) {
  for (int i = 0; i < COUNT; i++)
    pthread_mutex_lock(&slots[i].m);
  slots[0].value++;
  for (int i = COUNT - 1; i >= 0; i--)
    pthread_mutex_unlock(&slots[i].m);
}
static void asked(struct slot *first, struct slot *end) {
  for (struct slot *s = first; s < end; s++)
    if (s->used)
      pthread_mutex_lock(&s->m);
  first->value++;
  for (struct slot *s = first; s < end; s++)
    if (s->used)
      pthread_mutex_unlock(&s->m);
}
static void early(void) {
  for (int i = 0; i < count; i++)
    pthread_mutex_lock(&slots[i].m); // here
  for (int i = 0; i < count; i++) {
    if (failed)
      break;
    pthread_mutex_unlock(&slots[i].m);
  }
}
static void fewer(void) {
  for (int i = 0; i < COUNT; i++)
    pthread_mutex_lock(&slots[i].m); // here
  for (int i = 0; i < COUNT - 1; i++)
    pthread_mutex_unlock(&slots[i].m);
}
static void some(void) {
  for (int i = 0; i < count; i++)
    pthread_mutex_lock(&slots[i].m); // here
  for (int i = 0; i < count; i++)
    if (slots[i].used)
      pthread_mutex_unlock(&slots[i].m);
}
static void *work(void *unused) {
  failed = same();
  opposite();
  asked(slots, slots + COUNT);
  early();
  fewer();
  some();
  return unused;
}
int main(void) {
  pthread_t a, b;
  for (int i = 0; i < COUNT; i++)
    pthread_mutex_init(&slots[i].m, 0);
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  return 0;
}
// CHECK:42: 'slots[].m' is acquired here, and 'early' may return without releasing it
// CHECK-NEXT:  48: it is still held on this way to the end
// CHECK-NEXT:  46: it is released here on another way
// CHECK-NEXT:51: 'slots[].m' is acquired here, and 'fewer' may return without releasing it
// CHECK-NEXT:  54: it is still held on this way to the end
// CHECK-NEXT:  53: it is released here on another way
// CHECK-NEXT:57: 'slots[].m' is acquired here, and 'some' may return without releasing it
// CHECK-NEXT:  61: it is still held on this way to the end
// CHECK-NEXT:  60: it is released here on another way
// CHECK-NEXT:3 findings
