// va_start writes the list that it begins, and va_copy reads one and writes another: sections that share it conflict.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem >/dev/null
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
#include <stdarg.h>
static va_list list, other;
static void begin(int n, ...) { va_start(list, n); }
__attribute__((atomic)) void begins(void) { begin(1, 2L); }
__attribute__((atomic)) void copies(void) { va_copy(other, list); }
static void *thread(void *arg) {
  copies();
  return arg;
}
int main(void) {
  pthread_t id;
  pthread_create(&id, 0, thread, 0);
  begins();
  pthread_join(id, 0);
  return 0;
}
// CHECK: "conflicts": [
// CHECK: "with": "copies"
// CHECK: "on": [
// CHECK-NEXT: "list
