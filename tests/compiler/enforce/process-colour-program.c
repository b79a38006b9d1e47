// A program that calls code that nobody has analysed shares the process's colour with it; one that
// calls only what the catalogue knows does not.
// RUN: %cc -DLOADS %s | env TANDEM_ENFORCE=hybrid %tandem | %FileCheck %s --check-prefix=LOADS
// RUN: %cc %s | env TANDEM_ENFORCE=hybrid %tandem | %FileCheck %s --check-prefix=ALONE
#include <pthread.h>
#include <stdlib.h>
#include <tandem/tandem.h>
static int *counter;
void give(int *);
TANDEM_ATOMIC static void tick(void) { ++*counter; }
static void *run(void *argument) {
  tick();
  return argument;
}
int main(void) {
  counter = malloc(sizeof *counter);
#ifdef LOADS
  give(counter);
#endif
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  tick();
  return pthread_join(thread, NULL);
}
// LOADS: @tandem.colour_list = internal unnamed_addr constant [1 x { ptr, i32, i32 }] [{ ptr, i32, i32 } { ptr @{{.*}}, i32 7, i32 0 }]
// ALONE: @tandem.colour_list = internal unnamed_addr constant [1 x { ptr, i32, i32 }] [{ ptr, i32, i32 } { ptr @{{.*}}, i32 0, i32 0 }]
