// A call through an alias, as constructors make, is a call of the function.
// RUN: %cxx -mconstructor-aliases %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
struct Counted {
  int value;
  Counted(int v);
};
static int made;
Counted::Counted(int v) : value(v) { ++made; }
__attribute__((atomic)) int make() { return Counted(3).value; }
static void *run(void *unused) {
  (void)unused;
  return reinterpret_cast<void *>(static_cast<long>(make()));
}
int main() {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], 0);
}
// CHECK: "irrevocable_at": "never"
// CHECK: "writes": [
// CHECK: "made"
