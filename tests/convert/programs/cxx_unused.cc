// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lock of the program's own, which locks nothing, stays what it is: it keeps no other lock from
// becoming a section.
#include "threads.h"

#include <mutex>

struct Nothing {
  void lock() {}
  void unlock() {}
};

template <class Lock> class Counter {
public:
  void add() {
    std::lock_guard<Lock> guard(lock_);
    ++count_;
  }
  long count() const { return count_; }

private:
  Lock lock_;
  long count_ = 0;
};

namespace {

Counter<std::mutex> shared;
thread_local Counter<Nothing> own;

void work(unsigned) {
  for (int i = 0; i < kRounds; ++i) {
    shared.add();
    own.add();
  }
}

} // namespace

int main(int argc, char **argv) {
  const long wanted = run(argc, argv, work) * static_cast<long>(kRounds);
  return expect("count", shared.count(), wanted);
}
