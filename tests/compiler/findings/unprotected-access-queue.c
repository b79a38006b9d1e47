// A queue with a condition variable hands objects from producer to consumer. No finding: accesses of the consumer after it took the
// list in a section that waits, also in a callback for each element, and accesses of the producer before it puts the object into the
// list. Findings: accesses of the producer after that, and objects that are handed over without a condition variable.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s
#include <pthread.h>
#include <stdlib.h>
struct item {
  struct item *next;
  void (*done)(struct item *);
  long page, length, sent, seen, kept;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, stack_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct item *queue, *stack, *shown;
static long sum;
static void give_back(struct item *item) {
  sum += item->page;
  pthread_mutex_lock(&stack_lock);
  item->next = stack;
  stack = item;
  pthread_mutex_unlock(&stack_lock);
}
static void *receive(void *unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    while (queue == NULL)
      pthread_cond_wait(&more, &lock);
    struct item *taken = queue, *item;
    queue = NULL;
    shown = taken;
    ++shown->seen;
    pthread_mutex_unlock(&lock);
    for (item = taken; item != NULL;) {
      struct item *next = item->next;
      sum += item->length;
      item->done(item);
      item = next;
    }
  }
  return unused;
}
static void submit(struct item *items) {
  struct item *last = items;
  for (struct item *item = items; item != NULL; item = item->next) {
    ++item->sent;
    last = item;
  }
  pthread_mutex_lock(&lock);
  last->next = queue;
  queue = items;
  ++queue->sent;
  ++queue->seen;
  pthread_mutex_unlock(&lock);
  pthread_cond_signal(&more);
  ++items->seen; // CHECK: {{^}}[[#@LINE]]: '{{.*}}->seen' is written here outside all sections
}
static void keep(struct item *item) {
  ++item->kept; // CHECK: {{^}}[[#@LINE]]: '{{.*}}->kept' is written here outside all sections
  pthread_mutex_lock(&stack_lock);
  item->next = stack;
  stack = item;
  ++stack->kept;
  pthread_mutex_unlock(&stack_lock);
}
static void *produce(void *unused) {
  for (int i = 0; i < 99; ++i) {
    pthread_mutex_lock(&stack_lock);
    struct item *item = stack;
    if (item != NULL) {
      stack = item->next;
      item->next = NULL;
      item->page = i;
      item->length = i;
      item->done = give_back;
    }
    pthread_mutex_unlock(&stack_lock);
    if (item == NULL)
      keep(calloc(1, sizeof *item));
    else if (i % 3 == 0)
      keep(item);
    else
      submit(item);
  }
  return unused;
}
int main(void) {
  pthread_t threads[3];
  pthread_create(&threads[0], 0, receive, 0);
  pthread_create(&threads[1], 0, produce, 0);
  pthread_create(&threads[2], 0, produce, 0);
  for (int i = 0; i < 3; ++i)
    pthread_join(threads[i], 0);
  return (int)sum;
}
// CHECK: {{^}}2 findings
