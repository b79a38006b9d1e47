// A signal handler runs beside everything.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <signal.h>
static int seen;
__attribute__((atomic)) void note(int number) { seen = number; }
__attribute__((atomic)) int get(void) { return seen; }
int main(void) {
  signal(SIGUSR1, note);
  return get();
}
// CHECK: "name": "note"
// CHECK: "with": "get"
// CHECK: "kind": "signal-handler"
