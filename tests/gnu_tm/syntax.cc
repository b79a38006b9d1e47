// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every form that gcc's C++ has, but for a transaction that is a function's whole body.
#include <atomic>
#include <cstdio>
#include <pthread.h>
#include <stdexcept>
#include <type_traits>

static long x, y;
static std::atomic<long> plain{1}; // `atomic` is a keyword before `do` only

long add(long by) transaction_safe;
long add(long by) transaction_safe { return x += by; }

struct Shape {
  virtual ~Shape() = default;
  virtual long area() const transaction_safe_dynamic { return y; }
};
struct Square : Shape {
  long area() const transaction_safe_dynamic override { return y * y; }
};
[[gnu::transaction_pure]] static void trace(long value) { std::printf("traced %ld\n", value); }

template <typename T> T twice(T value) {
  __transaction_atomic { return value + value + add(0); }
}

static long left(int n) {
  for (int i = 0; i < n; ++i)
    atomic_commit {
      if (i == 2)
        continue;
      if (i == 4)
        break;
      ++x;
    }
  atomic_noexcept { return x; }
}

static void *work(void *given) {
  for (int i = 0; i < 20000; ++i)
    __transaction_atomic {
      const long before = x;
      ++y;
      x = before + 1;
    }
  return given;
}

int main() {
  std::printf("left %ld\n", left(10));
  synchronized {
    ++x;
    std::printf("synchronized\n");
  }
  __transaction_atomic noexcept { add(5); }
  __transaction_relaxed noexcept(sizeof(int) == 4) { add(6); }
  __transaction_relaxed noexcept(std::is_same<std::atomic<int>, std::atomic<int>>::value) {
    add(0);
  }
  y = 4;
  const Square square;
  const Shape &shape = square;
  long area = 0;
  __transaction_atomic { area = shape.area(); }
  const long value = __transaction_atomic(x + 1);
  __transaction_relaxed { trace(value); }
  const long nested = __transaction_atomic noexcept(true)(value + __transaction_atomic(x + 2));
  std::printf("%ld %ld %ld %ld %ld\n", area, value, nested, twice(4L), plain.load());
  try {
    __transaction_atomic {
      x = 50;
      throw 7;
    }
  } catch (int what) {
    std::printf("caught %d, %ld\n", what, x);
  }
  __transaction_atomic {
    x = 60;
    if (y == 4)
      __transaction_cancel;
  }
  std::printf("after %ld\n", x);
  x = y = 0;
  pthread_t threads[2];
  for (pthread_t &thread : threads)
    pthread_create(&thread, nullptr, work, nullptr);
  for (const pthread_t thread : threads)
    pthread_join(thread, nullptr);
  std::printf("counted %ld %ld\n", x, y);
}
