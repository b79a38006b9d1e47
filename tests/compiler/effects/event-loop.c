// An event loop that a section runs calls the handlers that its library was given before.
// RUN: echo 'version = 1' > %t.toml
// RUN: echo '[function]' >> %t.toml
// RUN: echo 'on_event.effect = "irrevocable"' >> %t.toml
// RUN: echo 'on_event.callbacks = { function = 0, when = "later", gets = [] }' >> %t.toml
// RUN: %cc %s | env TANDEM_ENFORCE=none TANDEM_CATALOGUE=%t.toml %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
void on_event(void (*)(void));
void run_events(void);
static int handled;
static void handle(void) { ++handled; }
__attribute__((atomic)) void serve(void) { run_events(); }
static void *run(void *unused) {
  (void)unused;
  serve();
  return 0;
}
int main(void) {
  pthread_t a, b;
  on_event(handle);
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
// CHECK: "name": "serve"
// CHECK: "writes": [
// CHECK: "handled"
