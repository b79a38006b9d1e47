// A field that is accessed through pointers is reported only if at most one line, or a quarter of the lines that access it, has no
// lock; otherwise each thread probably has objects of its own. Variables are always reported, once for each line that accesses
// them, also where another section copies the whole record.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <stdlib.h>
struct account {
  pthread_mutex_t lock;
  long often, once, some;
};
struct record {
  long part, other;
};
static struct account *accounts[9];
static struct record variable, copy;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {
  for (int i = 0; i < 9; ++i) {
    struct account *account = accounts[i];
    pthread_mutex_lock(&account->lock);
    ++account->often;
    account->often *= 2;
    account->often -= 3;
    ++account->once;
    ++account->some;
    account->some *= 2;
    account->some /= 3;
    account->some -= 4;
    account->some ^= 5;
    account->some |= 6;
    pthread_mutex_unlock(&account->lock);
    ++account->often;
    account->often *= 2;
    ++account->once;
    ++account->some;
    account->some -= 4;
  }
  pthread_mutex_lock(&lock);
  ++variable.part;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&lock);
  copy = variable;
  pthread_mutex_unlock(&lock);
  ++variable.part;
  variable.part *= 2;
  return unused;
}
int main(void) {
  for (int i = 0; i < 9; ++i) {
    struct account *account = i % 2 ? malloc(sizeof *account) : calloc(1, sizeof *account);
    account->once = account->some = account->often = 0;
    pthread_mutex_init(&account->lock, 0);
    accounts[i] = account;
  }
  pthread_t one, other;
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
}
// CHECK:35: 'accounts[]->once' is written here outside all sections, and written in section 'work_1'
// CHECK-NEXT:  25: written here in section 'work_1'
// CHECK-NEXT:36: 'accounts[]->some' is written here outside all sections, and written in section 'work_1'
// CHECK-NEXT:  26: written here in section 'work_1'
// CHECK-NEXT:  36: 6 of 8 accesses to it are in sections or with a lock held
// CHECK-NEXT:45: 'variable.part' is written here outside all sections, and written in section 'work_2'
// CHECK-NEXT:  40: written here in section 'work_2'
// CHECK-NEXT:  45: 2 of 4 accesses to it are in sections or with a lock held
// CHECK-NEXT:3 findings
