// A signal handler waits for a lock that other code takes too. Not reported: a trylock, which does not wait; a lock that
// only the handler takes; a function that cannot be called with a signal. A handler has no parameter, one or three.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-in-handler | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <signal.h>
static pthread_mutex_t waited = PTHREAD_MUTEX_INITIALIZER, tried = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER,
                       logged = PTHREAD_MUTEX_INITIALIZER, told = PTHREAD_MUTEX_INITIALIZER, asked = PTHREAD_MUTEX_INITIALIZER;
static int n, k;
static void note(void) {
  pthread_mutex_lock(&waited);
  ++n;
  pthread_mutex_unlock(&waited);
}
static void handler(int number) {
  note();
  if (pthread_mutex_trylock(&tried) == 0) {
    k += number;
    pthread_mutex_unlock(&tried);
  }
  pthread_mutex_lock(&own);
  pthread_mutex_unlock(&own);
}
static void on_int() {
  pthread_mutex_lock(&asked);
  ++k;
  pthread_mutex_unlock(&asked);
}
static void on_term(int number, siginfo_t *info, void *context) {
  pthread_mutex_lock(&told);
  k += number + (info == context);
  pthread_mutex_unlock(&told);
}
static int log_line(const char *text, long length) {
  pthread_mutex_lock(&logged);
  k += text[length];
  pthread_mutex_unlock(&logged);
  return k;
}
static void *const functions[] = {(void *)handler, (void *)log_line};
int main(int count, char **arguments) {
  signal(SIGUSR1, (void (*)(int))functions[count % 2]);
  signal(SIGINT, (void (*)(int))on_int);
  sigaction(SIGTERM, &(struct sigaction){.sa_flags = SA_SIGINFO, .sa_sigaction = on_term}, 0);
  log_line(arguments[0], 0);
  pthread_mutex_lock(&told);
  pthread_mutex_lock(&asked);
  pthread_mutex_lock(&waited);
  pthread_mutex_lock(&tried);
  ++n;
  ++k;
  pthread_mutex_unlock(&tried);
  pthread_mutex_unlock(&waited);
  pthread_mutex_unlock(&asked);
  pthread_mutex_unlock(&told);
  return n + k;
}
// CHECK:11: 'waited' is acquired here by the signal handler 'handler', and by other code: a thread that is interrupted while it holds it waits for itself
// CHECK-NEXT:  16: 'handler' calls 'note' here
// CHECK-NEXT:  48: acquired here in 'main'
// CHECK-NEXT:25: 'asked' is acquired here by the signal handler 'on_int', and by other code: a thread that is interrupted while it holds it waits for itself
// CHECK-NEXT:  47: acquired here in 'main'
// CHECK-NEXT:30: 'told' is acquired here by the signal handler 'on_term', and by other code: a thread that is interrupted while it holds it waits for itself
// CHECK-NEXT:  46: acquired here in 'main'
// CHECK-NEXT:3 findings
