// Two objects' locks in an order that a comparison decides, and hand over hand along a list.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s --match-full-lines --strict-whitespace
#include "Inputs/accounts.h"
static void transfer(struct account *from, struct account *to, int amount) {
  struct account *low = from < to ? from : to;
  struct account *high = from < to ? to : from;
  if (from < to) {
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
  } else {
    pthread_mutex_lock(&to->lock);
    pthread_mutex_lock(&from->lock);
  }
  from->balance -= amount;
  to->balance += amount;
  pthread_mutex_unlock(&low->lock);
  pthread_mutex_unlock(&high->lock);
}
static void walk(struct account *at) {
  pthread_mutex_lock(&at->lock);
  while (at->next) {
    struct account *next = at->next;
    pthread_mutex_lock(&next->lock);
    pthread_mutex_unlock(&at->lock);
    at = next;
  }
  pthread_mutex_unlock(&at->lock);
}
static void *one(void *unused) {
  transfer(&accounts[0], &accounts[1], 1);
  walk(accounts);
  return 0;
}
static void *other(void *unused) {
  transfer(&accounts[1], &accounts[0], 1);
  walk(accounts);
  return 0;
}
#include "Inputs/one-and-other.h"
// CHECK:0 findings
