// Two objects' locks, in an order that the caller decides.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s --match-full-lines --strict-whitespace
#include "Inputs/accounts.h"
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
#include "Inputs/one-and-other.h"
// CHECK:[[#@LINE-15]]: a second lock of 'from->lock' is acquired while one is held: two threads that do so in different orders wait for each other for ever
// CHECK-NEXT:  [[#@LINE-17]]: 'from->lock' is acquired here, in 'transfer'
// CHECK-NEXT:  [[#@LINE-17]]: 'from->lock' is acquired here while 'from->lock' is held
// CHECK-NEXT:1 findings
