// A lambda that runs atomically is named after the function it is written in, and is where it is.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json > %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
#include <tandem/tandem.hpp>
static int x;
struct Counter {
  int value;
  int next() {
    return tandem::atomic([this] { return ++value; });
  }
};
// CHECK: section Counter::next()_1 lambda line [[#@LINE-3]]{{$}}
static int add(int amount) {
  const int before = tandem::atomic(
      [&] { return x; });
  tandem::atomic([&] { x += amount; });
  return before;
}
// CHECK-NEXT: section add(int)_1 lambda line [[#@LINE-4]]{{$}}
// CHECK-NEXT: section add(int)_2 lambda line [[#@LINE-4]]{{$}}
int main() { return Counter{1}.next() + add(2); }
