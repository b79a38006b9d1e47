// Functions that only compute the address of a lock, and clean-ups that have it in a variable: both ends of a region are
// computed alike, and a clean-up's question whether there is a lock is answered.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json | %FileCheck %s
#include <pthread.h>
struct node {
  pthread_mutex_t m;
  struct node *parent;
  long n;
};
static struct node nodes[8];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long n;
static struct node *find(int i) { return &nodes[i & 7]; }
static pthread_mutex_t *lock_of(struct node *x) { return &x->m; }
static struct node *locked(int i) {
  struct node *x = find(i);
  pthread_mutex_lock(lock_of(x));
  return x;
}
static void unlock_at(pthread_mutex_t **at) {
  if (*at)
    pthread_mutex_unlock(*at);
}
static void unlock_noting_at(pthread_mutex_t **at) {
  if (*at) {
    ++n;
    pthread_mutex_unlock(*at);
  }
}
static pthread_mutex_t *lock_it(pthread_mutex_t *lock) {
  pthread_mutex_lock(lock);
  return lock;
}
static void through_function(int i) {
  pthread_mutex_lock(&nodes[i & 7].m);
  // CHECK-DAG: section through_function_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex nodes[].m, 1 exits, same-function
  ++nodes[i & 7].n;
  pthread_mutex_unlock(&find(i)->m);
}
static void through_functions(int i) {
  pthread_mutex_lock(lock_of(find(i)));
  // CHECK-DAG: section through_functions_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex nodes[].m, 1 exits, same-function
  ++n;
  pthread_mutex_unlock(lock_of(find(i)));
}
static void got_locked(int i) {
  struct node *x = locked(i);
  // CHECK-DAG: section got_locked_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex {{.*}}m, 1 exits, same-function
  ++x->n;
  pthread_mutex_unlock(&x->m);
}
static int cleaned_up(int i, pthread_mutex_t *given) {
  pthread_mutex_t *guard __attribute__((cleanup(unlock_at))) = lock_it(given);
  // CHECK-DAG: section cleaned_up_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex {{.*}}given, 1 exits, same-function
  if (i == 3)
    return 1;
  ++n;
  return 0;
}
static int cleaned_up_noting(int i) {
  pthread_mutex_lock(&m);
  // CHECK-DAG: section cleaned_up_noting_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex m, 1 exits, same-function
  pthread_mutex_t *guard __attribute__((cleanup(unlock_noting_at))) = &m;
  if (i == 3)
    return 1;
  ++n;
  return 0;
}
// One that is given up in between is not there for the clean-up.
static void given_up(void) {
  pthread_mutex_lock(&m);
  // CHECK-DAG: section given_up_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex m, 2 exits
  pthread_mutex_t *guard __attribute__((cleanup(unlock_noting_at))) = &m;
  if (n == 3) {
    pthread_mutex_unlock(guard);
    guard = 0;
  }
}
int main(int argc, char **argv) {
  (void)argv;
  through_function(argc);
  through_functions(argc);
  got_locked(argc);
  cleaned_up(argc, &m);
  cleaned_up_noting(argc);
  given_up();
  return 0;
}
