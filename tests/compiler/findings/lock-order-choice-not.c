// Two objects' locks in an order that a comparison decides, by `?:` into two pointers or into an index.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s --match-full-lines --strict-whitespace
#include "Inputs/accounts.h"
static void by_pointers(struct account *from, struct account *to) {
  struct account *low = from < to ? from : to, *high = from < to ? to : from;
  pthread_mutex_lock(&low->lock);
  pthread_mutex_lock(&high->lock);
  --from->balance;
  ++to->balance;
  pthread_mutex_unlock(&high->lock);
  pthread_mutex_unlock(&low->lock);
}
static void by_numbers(int from, int to) {
  struct account *low = &accounts[from < to ? from : to], *high = &accounts[from < to ? to : from];
  pthread_mutex_lock(&low->lock);
  pthread_mutex_lock(&high->lock);
  --accounts[from].balance;
  ++accounts[to].balance;
  pthread_mutex_unlock(&high->lock);
  pthread_mutex_unlock(&low->lock);
}
static void *one(void *unused) {
  by_pointers(&accounts[0], &accounts[1]);
  by_numbers(0, 1);
  return 0;
}
static void *other(void *unused) {
  by_pointers(&accounts[1], &accounts[0]);
  by_numbers(1, 0);
  return 0;
}
#include "Inputs/one-and-other.h"
// CHECK:0 findings
