// Two objects' locks in an order that something else than their comparison decides.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s --match-full-lines --strict-whitespace
#include "Inputs/accounts.h"
static void transfer(struct account *from, struct account *to, int back) {
  struct account *low = back < 1 ? from : to, *high = back < 1 ? to : from;
  pthread_mutex_lock(&low->lock);
  pthread_mutex_lock(&high->lock);
  --from->balance;
  ++to->balance;
  pthread_mutex_unlock(&high->lock);
  pthread_mutex_unlock(&low->lock);
}
static void *one(void *unused) {
  transfer(&accounts[0], &accounts[1], 0);
  return 0;
}
static void *other(void *unused) {
  transfer(&accounts[0], &accounts[1], 1);
  return 0;
}
#include "Inputs/one-and-other.h"
// CHECK:[[#@LINE-15]]: a second lock of 'low->lock' is acquired while one is held: two threads that do so in different orders wait for each other for ever
// CHECK-NEXT:  [[#@LINE-17]]: 'low->lock' is acquired here, in 'transfer'
// CHECK-NEXT:  [[#@LINE-17]]: 'low->lock' is acquired here while 'low->lock' is held
// CHECK-NEXT:1 findings
