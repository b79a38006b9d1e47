// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sections THREADS ROUNDS: what C++ adds to sections: exceptions that leave them, virtual calls,
// methods, templates, containers. Status 0: the shared data is what it must be.
#include "interleave.h"

#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <thread>
#include <vector>

#define ATOMIC __attribute__((atomic))

static int total;
static int thrown;
static int handled;

struct Shape {
  virtual ~Shape() = default;
  virtual int area(int side) = 0;
};
struct Square : Shape {
  int area(int side) override {
    const int old = total;
    interleave();
    total = old + side;
    return side * side;
  }
};
struct Triple : Shape {
  int area(int side) override {
    total -= side;
    return 3 * side * side;
  }
};
static Shape *shapes[2];

// An exception leaves the section: what was done stays done.
ATOMIC static void may_throw(int i) {
  const int old = total;
  interleave();
  total = old + i;
  if (i % 7 == 0) {
    ++thrown;
    throw std::runtime_error("seventh");
  }
  total -= i;
}

// An exception is thrown and caught inside.
ATOMIC static void handles(int i) {
  try {
    if (i % 5 == 0)
      throw i;
  } catch (int) {
    ++handled;
  }
}

ATOMIC static int calls_virtual(int side) { return shapes[0]->area(side) + shapes[1]->area(side); }

static std::map<int, int> numbers;
ATOMIC static void put(int key) {
  int &number = numbers[key];
  interleave();
  ++number;
}
ATOMIC static void take(int key) {
  const auto found = numbers.find(key);
  if (--found->second == 0)
    numbers.erase(found);
}

// A destructor that runs before the section ends.
struct Balance {
  explicit Balance(int by) : by_(by) { total += by_; }
  ~Balance() { total -= by_; }
  int by_;
};
ATOMIC static int balanced(int i) {
  const Balance balance(i);
  interleave();
  return total - total;
}

struct Guarded {
  int value = 0;
  ATOMIC void add(int by) {
    const int old = value;
    interleave();
    value = old + by;
  }
  template <typename T> ATOMIC void add_any(T by) { value += static_cast<int>(by); }
};
static Guarded guarded;

static int worker(int rounds, std::barrier<> &start) {
  start.arrive_and_wait(); // no thread begins before all are there: their sections overlap
  int caught = 0;
  for (int i = 1; i <= rounds; ++i) {
    try {
      may_throw(i);
    } catch (const std::exception &) {
      ++caught;
    }
    handles(i);
    if (calls_virtual(i % 100) != 4 * (i % 100) * (i % 100) || balanced(i) != 0)
      std::abort();
    put(i % 100);
    guarded.add(1);
    guarded.add_any<long>(1);
    take(i % 100);
  }
  return caught;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const int threads = std::atoi(argv[1]);
  const int rounds = std::atoi(argv[2]);
  Square square;
  Triple triple;
  shapes[0] = &square;
  shapes[1] = &triple;
  std::barrier<> start(threads);
  std::vector<int> caught(threads);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] { caught[t] = worker(rounds, start); });
  for (std::thread &thread : all)
    thread.join();
  int caught_sum = 0;
  for (const int each : caught)
    caught_sum += each;
  int left = 0;
  for (int i = 7; i <= rounds; i += 7)
    left += i;
  std::printf("caught %d, thrown %d, handled %d, total %d of %d, numbers %zu, guarded %d\n",
              caught_sum, thrown, handled, total, left * threads, numbers.size(), guarded.value);
  return !(caught_sum == threads * (rounds / 7) && thrown == caught_sum &&
           handled == threads * (rounds / 5) && total == left * threads && numbers.empty() &&
           guarded.value == 2 * threads * rounds);
}
