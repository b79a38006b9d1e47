// Locks of an array that one loop takes are released by another loop with the same bounds, in the same or the opposite
// order, also where both ask one question in each round. Not where the second loop ends early, begins or ends
// elsewhere, by however little, or leaves some out.
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
static void counted_down(int n) {
  for (int i = 0; i < n; i++)
    pthread_mutex_lock(&slots[i].m);
  for (int i = n; i-- > 0;)
    pthread_mutex_unlock(&slots[i].m);
}
static void from_behind(int n) {
  for (int i = 0; i != n; i++) {
    struct slot *s = &slots[i];
    pthread_mutex_lock(&s->m);
  }
  for (int i = n; 0 < i; --i)
    pthread_mutex_unlock(&slots[i - 1].m);
}
static void backwards(struct slot *first, struct slot *end) {
  for (struct slot *s = first; s < end; s++)
    pthread_mutex_lock(&s->m);
  for (struct slot *s = end - 1; s >= first; s--)
    pthread_mutex_unlock(&s->m);
}
static void until(int n) {
  for (int i = 0; i < n; i++) {
    if (!slots[i].used)
      break;
    pthread_mutex_lock(&slots[i].m);
  }
  for (int i = 0; i < n; i++) {
    if (!slots[i].used)
      break;
    pthread_mutex_unlock(&slots[i].m);
  }
}
static void all_but_first(void) {
  for (int i = 0; i < COUNT; i++)
    pthread_mutex_lock(&slots[i].m); // here
  for (int i = COUNT - 1; i > 0; i--)
    pthread_mutex_unlock(&slots[i].m);
}
static void other_half(void) {
  for (int i = 0; i < COUNT / 2; i++)
    pthread_mutex_lock(&slots[i].m); // here
  for (int i = COUNT / 2; i < COUNT; i++)
    pthread_mutex_unlock(&slots[i].m);
}
static void from_third_last(int n) {
  for (int i = 0; i < n; i++)
    pthread_mutex_lock(&slots[i].m); // here
  for (int i = n - 3; i >= 0; i--)
    pthread_mutex_unlock(&slots[i].m);
}
static void every_other(int n) {
  for (int i = 0; i < n; i++)
    pthread_mutex_lock(&slots[i].m); // here
  for (int i = 0; i < n; i += 2)
    pthread_mutex_unlock(&slots[i].m);
}
static void next_ones(int n) {
  for (int i = 0; i < n; i++)
    pthread_mutex_lock(&slots[i].m); // here
  for (int i = 0; i < n; i++)
    pthread_mutex_unlock(&slots[i + 1].m);
}
static void one_variable(void) {
  int i;
  for (i = 0; i < COUNT; i++)
    pthread_mutex_lock(&slots[i].m); // here
  for (i = 1; i < COUNT; i++)
    pthread_mutex_unlock(&slots[i].m);
}
static void *work(void *unused) {
  failed = same();
  opposite();
  asked(slots, slots + COUNT);
  early();
  fewer();
  some();
  counted_down(count);
  from_behind(count);
  backwards(slots, slots + COUNT);
  until(count);
  all_but_first();
  other_half();
  from_third_last(count);
  every_other(count);
  next_ones(count);
  one_variable();
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
// CHECK-NEXT:96: 'slots[].m' is acquired here, and 'all_but_first' may return without releasing it
// CHECK-NEXT:  99: it is still held on this way to the end
// CHECK-NEXT:  98: it is released here on another way
// CHECK-NEXT:102: 'slots[].m' is acquired here, and 'other_half' may return without releasing it
// CHECK-NEXT:  105: it is still held on this way to the end
// CHECK-NEXT:  104: it is released here on another way
// CHECK-NEXT:108: 'slots[].m' is acquired here, and 'from_third_last' may return without releasing it
// CHECK-NEXT:  111: it is still held on this way to the end
// CHECK-NEXT:  110: it is released here on another way
// CHECK-NEXT:114: 'slots[].m' is acquired here, and 'every_other' may return without releasing it
// CHECK-NEXT:  117: it is still held on this way to the end
// CHECK-NEXT:  116: it is released here on another way
// CHECK-NEXT:120: 'slots[].m' is acquired here, and 'next_ones' may return without releasing it
// CHECK-NEXT:  123: it is still held on this way to the end
// CHECK-NEXT:  122: it is released here on another way
// CHECK-NEXT:127: 'slots[].m' is acquired here, and 'one_variable' may return without releasing it
// CHECK-NEXT:  128: it is still held on this way to the end
// CHECK-NEXT:  129: it is released here on another way
// CHECK-NEXT:9 findings
