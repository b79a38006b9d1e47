// Two atomic sections, which do what one() and two() of the program do, run by two threads after make(); to be included at the end.
// PREPARE(): what is done instead of make().
#include <pthread.h>
#ifndef PREPARE
#define PREPARE() make()
#endif
__attribute__((atomic)) void first(void) { one(); }
__attribute__((atomic)) void second(void) { two(); }
static void *run(void *unused) {
  first();
  second();
  return unused;
}
int main(void) {
  pthread_t thread;
  PREPARE();
  pthread_create(&thread, 0, run, 0);
  run(0);
  pthread_join(thread, 0);
}
