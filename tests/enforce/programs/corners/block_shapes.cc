// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks in odd places, and with odd ways out.
#include <cstdlib>
#include <string>
#include <tandem/tandem.hpp>

static long counter;

static void check(bool holds) {
  if (!holds)
    std::abort();
}

struct Thrower {
  ~Thrower() noexcept(false) {
    if (counter % 2 == 1)
      throw 7;
  }
};

// A terminate pad that serves the block and what is around it.
static int in_noexcept(const std::string &text) noexcept {
  std::string copy = text;
  tandem_atomic {
    const std::string inner = copy + text;
    counter += static_cast<long>(inner.size());
    copy += inner;
  }
  const std::string last = copy + text;
  return static_cast<int>(last.size());
}

// No way out but by exception.
static void always_throws() {
  tandem_atomic {
    ++counter;
    throw counter;
  }
}

// A loop of the function's own, back to before the block.
static int jumps_back() {
  int tries = 0;
again:
  tandem_atomic {
    ++counter;
    if (++tries < 3)
      goto again;
  }
  return tries;
}

// Several blocks whose exceptions the same handlers take, one inside a handler.
static int several() {
  int steps = 0;
  try {
    tandem_atomic {
      ++counter;
      ++steps;
    }
    tandem_atomic {
      steps += 10;
      throw std::string("second");
    }
  } catch (const std::string &) {
    try {
      tandem_atomic {
        steps += 100;
        throw;
      }
    } catch (...) {
      steps += 1000;
    }
  } catch (long) {
    std::abort();
  }
  return steps;
}

// A block that ends the function from inside of loops and switches.
static int deep(int n) {
  tandem_atomic {
    for (int i = 0;; ++i) {
      switch (i % 3) {
      case 2:
        while (true) {
          if (i > n)
            return i;
          break;
        }
        break;
      default:
        ++counter;
      }
    }
  }
}

// A clean-up that throws as the block ends.
static int destructor_throws() {
  try {
    tandem_atomic {
      const Thrower thrower;
      counter |= 1;
    }
  } catch (int thrown) {
    return thrown;
  }
  return 0;
}

struct Object {
  long value = 1;
  Object() {
    tandem_atomic { counter += value; }
  }
  ~Object() {
    tandem_atomic { counter -= value; }
  }
  long operator()() const {
    tandem_atomic { return counter; }
  }
};

int main() {
  check(in_noexcept("abc") == 12 && counter == 6);
  try {
    always_throws();
    std::abort();
  } catch (long thrown) {
    check(thrown == 7);
  }
  check(jumps_back() == 3 && counter == 10);
  check(several() == 1111 && counter == 11);
  check(deep(7) == 8);
  check(destructor_throws() == 7);
  const long before = counter;
  check(Object()() == before + 1);
  check(counter == before);
  check([] {
    tandem_atomic {
      return tandem::atomic([] { return counter; });
    }
  }() == before);
}
