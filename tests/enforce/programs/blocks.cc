// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// blocks THREADS ROUNDS: atomic blocks and lambdas of C++, left by exceptions, returns and jumps.
// Status 0: each went where it should, and nothing was lost.
#include "interleave.h"

#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tandem/tandem.hpp>
#include <thread>
#include <vector>

namespace {

long count;
std::atomic<long> expected; // of count
std::atomic<int> failures;

struct Base {
  int value;
};
struct Derived : Base {};
struct Other {};

void add(long amount) {
  const long before = count;
  interleave();
  count = before + amount;
}

void check(bool holds) {
  if (!holds)
    failures.fetch_add(1);
}

// A destructor that runs as a block is left.
class Leaving {
public:
  explicit Leaving(int &left) : left_(left) {}
  ~Leaving() { ++left_; }

private:
  int &left_;
};

void throw_one(int which) {
  switch (which) {
  case 1:
    throw Derived{{which}};
  case 2:
    throw which;
  case 3:
    throw Other();
  case 4:
    throw std::string("no handler of the block's function takes it");
  default:
    return;
  }
}

// Result: 1 the block's end, 2 its return, 3 and above by handler.
int leave(int which, int &left, long &added) {
  try {
    tandem_atomic {
      const Leaving leaving(left);
      add(1);
      ++added;
      try {
        throw_one(which);
      } catch (const Other &) {
        add(10);
        added += 10;
      }
      if (which == 5)
        return 2;
      add(100);
      added += 100;
    }
    return 1;
  } catch (const Derived &derived) {
    return derived.value == 1 ? 3 : 0;
  } catch (const Base &) {
    return 0;
  } catch (int value) {
    return value == 2 ? 4 : 0;
  }
}

void leave_all(int round) {
  constexpr int kWays[] = {1, 3, 4, 1, 5, 2};
  constexpr long kAdded[] = {101, 1, 1, 111, 1, 1};
  const int which = round % 6;
  int left = 0;
  long added = 0;
  int way = 0;
  try {
    way = leave(which, left, added);
  } catch (const std::string &) {
    way = 5;
  }
  check(way == kWays[which] && left == 1 && added == kAdded[which]);
  expected += added;
}

// Lambdas: a result by value and by reference, an exception, a block inside.
void lambdas(int round) {
  int runs = 0;
  const std::string text = tandem::atomic([&] {
    ++runs;
    add(2);
    return std::string(static_cast<std::size_t>(round % 40), 'x');
  });
  check(runs == 1 && text.size() == static_cast<std::size_t>(round % 40));
  long &where = tandem::atomic([]() -> long & { return count; });
  check(&where == &count);
  try {
    tandem::atomic([&] {
      add(3);
      tandem_atomic {
        add(4);
        if (round % 2 == 0)
          throw round;
      }
      add(5);
    });
    check(round % 2 == 1);
    expected += 5;
  } catch (int thrown) {
    check(thrown == round && round % 2 == 0);
  }
  expected += 9;
}

// Blocks that nothing leaves but an exception: one inside another, and by themselves.
void always_thrown(int round) {
  tandem_atomic {
    add(1);
    try {
      tandem_atomic {
        add(2);
        throw round;
      }
    } catch (int thrown) {
      add(thrown == round ? 3 : 0);
    }
    add(4);
  }
  try {
    tandem_atomic {
      add(5);
      throw round;
    }
  } catch (int thrown) {
    check(thrown == round);
  }
  expected += 15;
}

template <typename Number> Number generic(Number amount) {
  for (;;) {
    tandem_atomic {
      add(static_cast<long>(amount));
      if (amount > 0)
        break;
    }
  }
  return amount;
}

struct Object {
  long value = 0;
  void method(int round) {
    tandem_atomic {
      value += round; // through this
      add(1);
    }
    check(value == round);
  }
};

void work(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    leave_all(round);
    lambdas(round);
    always_thrown(round);
    expected += generic(1) + static_cast<long>(generic(2.0));
    Object().method(round);
    ++expected;
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const int threads = std::atoi(argv[1]);
  const int rounds = std::atoi(argv[2]);
  std::barrier start(threads);
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&] {
      start.arrive_and_wait();
      work(rounds);
    });
  for (std::thread &thread : all)
    thread.join();
  std::printf("count %ld of %ld, failures %d\n", count, expected.load(), failures.load());
  return !(count == expected && failures == 0);
}
