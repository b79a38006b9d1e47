// Accesses in functions that are only called with a lock held, before the threads start, to another field, or to an object that nobody else knows yet.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <stdlib.h>
struct item {
  int count;
  int other;
  struct item *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item item;
static struct item *list;
static void add(int n) { item.count += n; }
static void *count(void *unused) {
  pthread_mutex_lock(&lock);
  add(1);
  pthread_mutex_unlock(&lock);
  item.other = 3;
  struct item *fresh = malloc(sizeof *fresh);
  fresh->count = 1;
  pthread_mutex_lock(&lock);
  fresh->count += 1;
  fresh->next = list;
  list = fresh;
  if (list->next)
    list->next->count += 1;
  pthread_mutex_unlock(&lock);
  return 0;
}
int main(void) {
  pthread_t thread;
  item.count = 7;
  add(2);
  pthread_create(&thread, 0, count, 0);
  pthread_create(&thread, 0, count, 0);
  return 0;
}
// CHECK:0 findings
