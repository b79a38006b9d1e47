// A function is no signal handler only because code outside the program knows it, as all functions of a program that is linked with -rdynamic:
// what memory of the system's may lead to is each of them. Its address must be taken.
// RUN: %cc %s > %t.in.ll
// RUN: env TANDEM_ENFORCE=none %library < %t.in.ll > %t.ll
// RUN: %python %S/print.py %t.json lock-in-handler | %FileCheck %s --match-full-lines --strict-whitespace
// RUN: env TANDEM_ENFORCE=none %tandem -internalize-public-api-list=show_all,show,take < %t.in.ll > %t.ll
// RUN: %python %S/print.py %t.json lock-in-handler | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <signal.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, taken = PTHREAD_MUTEX_INITIALIZER;
static int n;
extern struct sigaction *from_elsewhere;
void show(int what) {
  pthread_mutex_lock(&lock);
  n += what;
  pthread_mutex_unlock(&lock);
}
void show_all(); // called without a prototype, which takes no address either
void take(int what) {
  pthread_mutex_lock(&taken);
  n += what;
  pthread_mutex_unlock(&taken);
}
void (*volatile chosen)(int) = take;
int main(void) {
  sigaction(SIGUSR1, from_elsewhere, 0);
  sigaction(SIGUSR2, &(struct sigaction){.sa_handler = chosen}, 0);
  show_all();
  chosen(1);
  pthread_mutex_lock(&taken);
  pthread_mutex_unlock(&taken);
  return n;
}
void show_all(void) { show(n); }
// CHECK:20: 'taken' is acquired here by the signal handler 'take', and by other code: a thread that is interrupted while it holds it waits for itself
// CHECK-NEXT:  20: acquired here in 'take'
// CHECK-NEXT:1 findings
