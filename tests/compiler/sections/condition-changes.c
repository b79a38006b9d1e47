// A condition that is asked before a lock is acquired and again before it is released counts as one
// only if nothing may write what it reads in between: not the function, not what it calls, not
// another thread. Else the region is not understood, and the report says why.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json > %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
extern int printf(const char *, ...);
struct pool {
  pthread_mutex_t mutex;
  int threads;
  int jobs;
  int *limit;
};
static pthread_mutex_t m;
static int at_start; // written before there is a second thread
static int by_others;
static int by_callee;
static int x;

// What stays understood.
static void parameter(struct pool *p, int threads) {
  if (threads > 1)
    pthread_mutex_lock(&p->mutex);
  p->jobs++;
  if (threads > 1)
    pthread_mutex_unlock(&p->mutex);
}
// CHECK-DAG: section parameter_1 {{.*}}, flag-guarded
static void field_set_at_creation(struct pool *p) {
  if (p->threads > 1)
    pthread_mutex_lock(&p->mutex);
  p->jobs += (int)strlen("x");
  if (p->threads > 1)
    pthread_mutex_unlock(&p->mutex);
}
// CHECK-DAG: section field_set_at_creation_1 {{.*}}, flag-guarded
static void set_at_start(void) {
  if (at_start > 1)
    pthread_mutex_lock(&m);
  x++;
  if (at_start > 1)
    pthread_mutex_unlock(&m);
}
// CHECK-DAG: section set_at_start_1 {{.*}}, flag-guarded
static void lock_if(struct pool *p) {
  if (p->threads > 1)
    pthread_mutex_lock(&p->mutex);
}
static void unlock_if(struct pool *p) {
  if (p->threads > 1)
    pthread_mutex_unlock(&p->mutex);
}
static void through_wrappers(struct pool *p) {
  lock_if(p);
  p->jobs++;
  unlock_if(p);
}
// CHECK-DAG: section through_wrappers_1 {{.*}}, flag-guarded
static void lock_told(struct pool *p, int yes) {
  if (yes)
    pthread_mutex_lock(&p->mutex);
}
static void unlock_told(struct pool *p, int yes) {
  if (yes)
    pthread_mutex_unlock(&p->mutex);
}
static void told(struct pool *p, int threads) {
  lock_told(p, threads > 1);
  p->jobs++;
  unlock_told(p, threads > 1);
}
// CHECK-DAG: section told_1 {{.*}}, flag-guarded
static void copied(void) {
  const int many = by_others;
  if (many > 1)
    pthread_mutex_lock(&m);
  x++;
  if (many > 1)
    pthread_mutex_unlock(&m);
}
// CHECK-DAG: section copied_1 {{.*}}, flag-guarded

// What is not.
static void another_thread(void) {
  if (by_others > 1)
    pthread_mutex_lock(&m);
  x++;
  if (by_others > 1)
    pthread_mutex_unlock(&m);
}
// CHECK-DAG: section another_thread_1 {{.*}}, escapes
// CHECK-DAG: another_thread: lock {{.*}}: another_thread_1'by_others', by which it is acquired and released, may change in between: another thread may write it ({{.*}}condition-changes.c:[[#]])
static void through_wrappers_of_a_global(struct pool *p) {
  lock_told(p, by_others);
  p->jobs++;
  unlock_told(p, by_others);
}
// CHECK-DAG: section through_wrappers_of_a_global_1 {{.*}}, escapes
// CHECK-DAG: through_wrappers_of_a_global: lock {{.*}}'by_others', by which {{.*}}: another thread may write it
static void set_callee(void) { by_callee = 2; }
static void calls_it(void) { set_callee(); }
static void (*by_pointer)(void) = calls_it;
static void callee(void) {
  if (by_callee > 1)
    pthread_mutex_lock(&m);
  by_pointer();
  if (by_callee > 1)
    pthread_mutex_unlock(&m);
}
// CHECK-DAG: section callee_1 {{.*}}, escapes
// CHECK-DAG: callee: lock {{.*}}: callee_1'by_callee', by which {{.*}}: a call by pointer may write it ({{.*}}:[[#@LINE-5]])
static void alias(struct pool *p, struct pool *q) {
  if (*p->limit > 1)
    pthread_mutex_lock(&p->mutex);
  *q->limit = 0;
  if (*p->limit > 1)
    pthread_mutex_unlock(&p->mutex);
}
// CHECK-DAG: section alias_1 {{.*}}, escapes
// CHECK-DAG: alias: lock {{.*}}: alias_1'*p->limit', by which {{.*}}: it may be written ({{.*}}:[[#@LINE-5]])
static void library(struct pool *p, const char *from) {
  int limit[2];
  memcpy(limit, from, sizeof(limit));
  if (limit[0] > 1)
    pthread_mutex_lock(&p->mutex);
  memcpy(limit, from + 8, sizeof(limit));
  if (limit[0] > 1)
    pthread_mutex_unlock(&p->mutex);
}
// CHECK-DAG: section library_1 {{.*}}, escapes
static void lower(int *limit) { *limit -= 1; }
static void address_given(struct pool *p, int limit) {
  if (limit > 1)
    pthread_mutex_lock(&p->mutex);
  lower(&limit);
  if (limit > 1)
    pthread_mutex_unlock(&p->mutex);
}
// CHECK-DAG: section address_given_1 {{.*}}, escapes
// CHECK-DAG: address_given: lock {{.*}}'limit', by which {{.*}}: lower may write it ({{.*}}:[[#@LINE-5]])
static void in_a_loop(struct pool *p, const int *limits) {
  for (int i = 0; i < 4; i++) {
    if (limits[i] > 1)
      pthread_mutex_lock(&p->mutex);
    p->jobs++;
    i++;
    if (limits[i] > 1)
      pthread_mutex_unlock(&p->mutex);
  }
}
// CHECK-DAG: section in_a_loop_1 {{.*}}, escapes
static void read_before_it_is_written(void) {
  const int before = by_callee;
  set_callee();
  if (before > 1)
    pthread_mutex_lock(&m);
  x++;
  if (by_callee > 1)
    pthread_mutex_unlock(&m);
}
// CHECK-DAG: section read_before_it_is_written_1 {{.*}}, escapes

static void *work(void *argument) {
  struct pool *p = argument;
  parameter(p, p->threads);
  field_set_at_creation(p);
  set_at_start();
  through_wrappers(p);
  told(p, p->threads);
  through_wrappers_of_a_global(p);
  copied();
  another_thread();
  library(p, "0123456789abcdef");
  address_given(p, p->jobs);
  in_a_loop(p, p->limit);
  return 0;
}
static struct pool *create(int threads) {
  struct pool *p = calloc(2, sizeof(*p));
  pthread_mutex_init(&p->mutex, 0);
  p->threads = threads;
  p->limit = malloc(sizeof(int) * 8);
  return p;
}
int main(int argc, char **argv) {
  (void)argv;
  at_start = argc;
  pthread_t threads[2];
  struct pool *p = create(argc);
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], 0, work, p);
  callee(); // main alone
  alias(p, p);
  read_before_it_is_written();
  struct pool *late = create(argc + 1);
  field_set_at_creation(late);
  by_others = 2;
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], 0);
  return x + (by_pointer == 0);
}
