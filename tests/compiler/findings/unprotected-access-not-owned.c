// Races that look like what is none: a variable whose lock is made before a thread is created and destroyed behind its
// join; branches that set different pointers; fewer joins than threads.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s
#include <pthread.h>
struct pool {
  pthread_mutex_t lock;
  long own;
};
static struct pool global;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long bumped, joined;
static void *work_global(void *unused) {
  pthread_mutex_lock(&global.lock);
  ++global.own;
  pthread_mutex_unlock(&global.lock);
  return unused;
}
static void *count(void *unused) {
  pthread_mutex_lock(&lock);
  ++bumped;
  pthread_mutex_unlock(&lock);
  return unused;
}
static void *count_joined(void *unused) {
  pthread_mutex_lock(&lock);
  ++joined;
  pthread_mutex_unlock(&lock);
  return unused;
}
static void start_reader(void) {
  pthread_t thread;
  pthread_create(&thread, 0, count, 0);
}
static void bump(void) { ++bumped; } // CHECK: {{^}}[[#@LINE]]: 'bumped' is written here outside all sections
static void (*on_read)(void), (*on_write)(void);
static void set(int kind) {
  if (kind == 0)
    on_read = start_reader;
  else
    on_write = bump;
}
int main(int argc, char **argv) {
  pthread_t thread, threads[9];
  pthread_mutex_init(&global.lock, 0);
  pthread_create(&thread, 0, work_global, 0);
  ++global.own; // CHECK: {{^}}[[#@LINE]]: 'global.own' is written here outside all sections
  pthread_join(thread, 0);
  pthread_mutex_destroy(&global.lock);
  for (int kind = 0; kind < argc; ++kind)
    set(kind);
  on_read();
  on_write();
  for (int i = 0; i + 1 < 9; ++i)
    pthread_create(&threads[i], 0, count_joined, 0);
  for (int i = 0; i + 1 < 3; ++i)
    pthread_join(threads[i], 0);
  ++joined; // CHECK: {{^}}[[#@LINE]]: 'joined' is written here outside all sections
  return argv == 0;
}
// CHECK: {{^}}3 findings
