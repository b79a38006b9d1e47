/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An exception that passes a handler of another type leaves the section. */
#include <thread>
static int entered;
__attribute__((noinline)) static void fail() { throw 1.0; }
__attribute__((atomic)) void section() {
  ++entered;
  try {
    fail();
  } catch (int) {
    --entered;
  }
}
int main() {
  const auto run = [] {
    try {
      section();
    } catch (double) {
    }
  };
  run();
  std::thread other(run);
  other.join();
  return entered != 2;
}
