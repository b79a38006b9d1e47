// Two objects' locks, in an order that the caller decides.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
static int counter;
struct account {
  pthread_mutex_t lock;
  struct account *next;
  int balance;
};
static struct account accounts[2];

static void transfer(struct account *from, struct account *to, int amount) {
  pthread_mutex_lock(&from->lock);
  pthread_mutex_lock(&to->lock);
  from->balance -= amount;
  to->balance += amount;
  pthread_mutex_unlock(&to->lock);
  pthread_mutex_unlock(&from->lock);
}
static void *one(void *unused) {
  transfer(&accounts[0], &accounts[1], 1);
  return 0;
}
static void *other(void *unused) {
  transfer(&accounts[1], &accounts[0], 1);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, one, 0);
  pthread_create(&thread, 0, other, 0);
  return 0;
}
// CHECK:[[#@LINE-20]]: a second lock of 'from->lock' is acquired while one is held: two threads that do so in different orders wait for each other for ever
// CHECK-NEXT:  [[#@LINE-22]]: 'from->lock' is acquired here, in 'transfer'
// CHECK-NEXT:  [[#@LINE-22]]: 'from->lock' is acquired here while 'from->lock' is held
// CHECK-NEXT:1 findings
