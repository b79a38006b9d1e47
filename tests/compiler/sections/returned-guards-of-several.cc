// A function that returns a guard of one lock or of another: no region ends where its caller's guard does.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json | %FileCheck %s
#include <mutex>
static std::mutex first, others[2], *table[4] = {&others[0], &others[1], &others[0], &others[1]};
static long n;
__attribute__((noinline)) static std::unique_lock<std::mutex> get(int number) {
  if (number < 0)
    return std::unique_lock<std::mutex>(first);
  return std::unique_lock<std::mutex>(*table[number]);
}
static void work(int number) {
  auto guard = get(number);
  ++n;
}
int main(int argc, char **) {
  table[argc & 3] = &first;
  work(argc - 1);
  work(-argc);
  return 0;
}
// CHECK-NOT: same-function
// CHECK: does not release it
// CHECK-NOT: same-function
