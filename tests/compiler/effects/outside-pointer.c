// A call by pointer of code that nobody has analysed: what it is given leaves the program, and what
// it returns comes from there. Both meet whatever else came from there.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
#include <stdlib.h>
extern void *dlsym(void *library, const char *name);
struct counter {
  long hits;
};
static struct counter *given;
static struct counter *taken;
__attribute__((atomic)) void give(void) { ++given->hits; }
__attribute__((atomic)) void take(void) { ++taken->hits; }
static void *run(void *unused) {
  give();
  take();
  return unused;
}
int main(void) {
  given = malloc(sizeof *given);
  void (*show)(struct counter *) = (void (*)(struct counter *))dlsym(NULL, "show");
  struct counter *(*get)(void) = (struct counter *(*)(void))dlsym(NULL, "get");
  show(given);
  taken = get();
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  run(NULL);
  return pthread_join(thread, NULL);
}
// CHECK: "name": "give"
// CHECK: "conflicts": [
// CHECK: "with": "take"
// CHECK: "name": "take"
