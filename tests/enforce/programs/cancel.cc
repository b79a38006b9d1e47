// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cancel THREADS ROUNDS: lambdas and blocks that are cancelled where exceptions are about. Status
// 0: each was undone as a whole and went on where it should.
#include "interleave.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <tandem/tandem.hpp>
#include <tandem/transaction.h>
#include <thread>
#include <vector>

namespace {

long total, mirror;
struct Entry {
  char name[40];
  Entry *next;
};
Entry *ledger;
std::atomic<long> astray;

void expect(bool right) {
  if (!right)
    ++astray;
}

struct Failure {
  long amount;
};

// What it returns, or 0.
long deposit(long amount, bool cancel) {
  return tandem::atomic([&] {
    total += amount;
    ledger = new Entry{"a name, copied as bytes", ledger};
    interleave();
    if (cancel)
      tandem_cancel();
    mirror += amount;
    return amount + 1;
  });
}

// A block of a function with handlers: left by an exception, by its end, or cancelled.
int three_ways(int round) {
  std::string name = "a name that is too long to be stored without an allocation";
  int way = 0;
  try {
    tandem_atomic {
      total += 1;
      way = 1;
      if (round % 3 == 0)
        tandem_cancel();
      mirror += 1;
      way = 2;
      if (round % 3 == 1)
        throw Failure{1};
      way = 3;
    }
  } catch (const Failure &) {
    expect(way == 2);
    return 1;
  }
  expect(way == (round % 3 == 0 ? 0 : 3) && !name.empty());
  return round % 3;
}

// The outer one goes on, and is left by an exception: what it did holds.
void nested(int round) {
  try {
    tandem::atomic([&] {
      total += 9;
      const long before = total;
      const long got = deposit(2, round % 2 != 0);
      mirror += 9 + (total - before) - (round % 2 != 0 ? 0 : 2);
      throw Failure{got};
    });
    expect(false);
  } catch (const Failure &failure) {
    expect(failure.amount == (round % 2 != 0 ? 0 : 3));
  }
}

// From within another's section.
void all(int round) {
  int steps = 0;
  tandem::atomic([&] {
    total += 13;
    steps = 1;
    tandem::atomic([&] {
      steps = 2;
      if (round % 2 == 0)
        tandem_cancel_all();
    });
    steps = 3;
    mirror += 13;
  });
  expect(steps == (round % 2 == 0 ? 0 : 3));
}

void work(int id, int rounds) {
  for (int i = id; i < id + rounds; ++i) {
    expect(deposit(5, i % 2 != 0) == (i % 2 != 0 ? 0 : 6));
    expect(three_ways(i) == i % 3);
    nested(i);
    all(i);
    expect(tandem::atomic([] { return total == mirror; }));
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const int threads = std::atoi(argv[1]);
  const int rounds = std::atoi(argv[2]);
  std::vector<std::thread> all_threads;
  for (int id = 0; id < threads; ++id)
    all_threads.emplace_back(work, id, rounds);
  for (std::thread &one : all_threads)
    one.join();
  long expected = 0;
  long entries = 0;
  for (int id = 0; id < threads; ++id)
    for (int i = id; i < id + rounds; ++i) {
      expected += 9 + (i % 2 == 0 ? 5 + 2 : 13) + (i % 3 == 0 ? 0 : 1);
      entries += i % 2 == 0 ? 2 : 0;
    }
  long listed = 0;
  for (const Entry *entry = ledger; entry != nullptr; entry = entry->next)
    listed += std::strlen(entry->name) == 23 ? 1 : 1000;
  std::printf("astray %ld, total %ld and %ld of %ld, listed %ld of %ld\n", astray.load(), total,
              mirror, expected, listed, entries);
  return astray != 0 || total != expected || mirror != expected || listed != entries ? 1 : 0;
}
