// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locks of the C++ library that become words: by guards, tried, and given back by an exception.
#include "threads.h"

#include <mutex>

static std::mutex word_lock;
static std::mutex other_lock;
static long first, second, others, thrown;

__attribute__((noinline)) static void add(long by) {
  const std::lock_guard<std::mutex> guard(word_lock);
  first += by;
  if (by == 0)
    throw 0;
  {
    const std::lock_guard<std::mutex> inner(other_lock);
    ++others;
  }
  second += by;
}

__attribute__((noinline)) static void try_add() {
  const std::lock_guard<std::mutex> guard(other_lock);
  const std::unique_lock<std::mutex> tried(word_lock, std::try_to_lock);
  if (!tried)
    return;
  ++first;
  ++second;
  ++others;
}

static void work(unsigned) {
  for (long i = 0; i < kRounds; ++i) {
    try {
      add(i % 7);
    } catch (int) {
      const std::lock_guard<std::mutex> guard(other_lock);
      ++thrown;
    }
    try_add();
  }
}

int main(int argc, char **argv) {
  const long threads = run(argc, argv, work);
  return expect("second", second, first) | expect("thrown", thrown, threads * ((kRounds + 6) / 7)) |
         (others >= threads * kRounds - thrown ? 0 : expect("others", others, threads * kRounds));
}
