// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// deadlock THREADS ROUNDS: the shapes in which sections would wait for each other for ever if they
// were enforced without an order. It ends with status 0, or it never ends.
#include "interleave.h"

#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#define ATOMIC __attribute__((atomic))

static long a, b, c;
static long told;

static void raise(long &which, long by) {
  const long old = which;
  interleave();
  which = old + by;
}
static void tell(bool really) {
  if (!really)
    return;
  std::fputs("", stderr);
  const long old = told;
  interleave();
  told = old + 1;
}

// Nested in opposite orders.
ATOMIC static void on_a(bool tells) {
  raise(a, 1);
  tell(tells);
}
ATOMIC static void on_b(bool tells) {
  raise(b, 1);
  tell(tells);
}
ATOMIC static void on_c() { raise(c, 1); }
ATOMIC static void a_then_b(bool tells) {
  on_a(tells);
  interleave();
  on_b(false);
}
ATOMIC static void b_then_a(bool tells) {
  on_b(tells);
  interleave();
  on_a(false);
}

// Both share a colour from the begin and want it for themselves later.
ATOMIC static void upgrade_c(long i) {
  raise(c, 1);
  if (i % 2 == 0) {
    std::fputs("", stderr);
    raise(a, 1);
  }
}

// Leaves through two sections by an exception, after an action that cannot be undone.
ATOMIC static void throws(long i) {
  on_c();
  tell(i % 3 == 0);
  if (i % 4 == 0)
    throw i;
}
ATOMIC static void passes(long i) {
  on_b(false);
  throws(i);
}

// From its begin.
ATOMIC static void always_tells() {
  std::fputs("", stderr);
  raise(told, 1);
  on_a(false);
  on_c();
}

struct Sums {
  long a = 0, b = 0, c = 0, told = 0;
};

static void round(long i, Sums &sums) {
  const bool tells = i % 5 == 0;
  switch (i % 6) {
  case 0:
    a_then_b(tells);
    ++sums.a, ++sums.b, sums.told += tells;
    break;
  case 1:
    b_then_a(tells);
    ++sums.a, ++sums.b, sums.told += tells;
    break;
  case 2:
  case 3:
    upgrade_c(i);
    ++sums.c, sums.a += i % 2 == 0;
    break;
  case 4:
    try {
      passes(i);
    } catch (long thrown) {
      if (thrown != i)
        std::exit(3);
    }
    ++sums.b, ++sums.c, sums.told += i % 3 == 0;
    break;
  default:
    always_tells();
    ++sums.a, ++sums.c, ++sums.told;
    break;
  }
}

int main(int argc, char **argv) {
  const int threads = argc == 3 ? std::atoi(argv[1]) : 0;
  const int rounds = argc == 3 ? std::atoi(argv[2]) : 0;
  std::barrier start(threads);
  std::vector<Sums> sums(static_cast<std::size_t>(threads));
  std::vector<std::thread> pool;
  for (int id = 0; id < threads; ++id)
    pool.emplace_back([&, id] {
      start.arrive_and_wait();
      for (long i = 0; i < rounds; ++i)
        round(i + id, sums[static_cast<std::size_t>(id)]);
    });
  for (std::thread &thread : pool)
    thread.join();
  Sums all;
  for (const Sums &part : sums) {
    all.a += part.a;
    all.b += part.b;
    all.c += part.c;
    all.told += part.told;
  }
  std::printf("a %ld of %ld, b %ld of %ld, c %ld of %ld, told %ld of %ld\n", a, all.a, b, all.b, c,
              all.c, told, all.told);
  return a != all.a || b != all.b || c != all.c || told != all.told;
}
