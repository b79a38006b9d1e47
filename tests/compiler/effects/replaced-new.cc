// What the library's operators do with a program's own operator new and delete is seen.
// RUN: %cxx %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <cstdlib>
#include <new>
#include <thread>
static long x;
void *operator new(std::size_t size) {
  x++;
  return std::malloc(size);
}
void operator delete(void *memory) noexcept { std::free(memory); }
static char *volatile kept;
__attribute__((atomic)) void mine() { x++; }
__attribute__((atomic)) void theirs() { kept = new (std::nothrow) char[3]; }
int main() {
  std::thread other(theirs);
  mine();
  other.join();
}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
