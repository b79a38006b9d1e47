// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two threads count. Prints the count.
#include <cstdio>
#include <thread>

extern "C" long add_to_counter(long n);

int main() {
  constexpr int kRounds = 100000;
  const auto count = [] {
    for (int round = 0; round < kRounds; ++round)
      add_to_counter(1);
  };
  std::thread other(count);
  count();
  other.join();
  std::printf("%ld\n", add_to_counter(0));
  return 0;
}
