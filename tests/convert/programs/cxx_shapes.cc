// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Guards in loops, around handlers, deferred, adopted, tried, in lambdas, of objects, around
// results.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr long kRounds = 1000;

std::mutex a;
std::mutex b;
std::mutex counted;
long found_by_loops;
long passed;
long threes;
long others;
long calls_of_both;
long counts;
std::vector<std::string> names;

struct Node {
  std::mutex lock;
  long value = 0;
  void add(long difference) {
    std::lock_guard guard(lock);
    value += difference;
  }
};
std::unique_ptr<Node> node;

long loop(long most) {
  long found = 0;
  for (long i = 0; i < most; ++i) {
    std::lock_guard<std::mutex> guard(a);
    if (i % 5 == 4)
      continue;
    if (i > 7)
      break;
    ++found_by_loops;
    ++found;
    if (found_by_loops < 0)
      return -1;
  }
  return found;
}

// One exception is handled inside, one leaves.
void handled(long i) {
  std::lock_guard<std::mutex> guard(b);
  try {
    if (i % 3 == 0)
      throw std::runtime_error("three");
    if (i % 5 == 0)
      throw 5;
    ++passed;
  } catch (const std::runtime_error &error) {
    threes += std::string(error.what()) == "three" ? 1 : -1'000'000;
  }
}

void both() {
  std::lock_guard<std::mutex> first(a);
  std::lock_guard<std::mutex> second(b);
  ++calls_of_both;
}

std::string name(long i) {
  std::lock_guard<std::mutex> guard(a);
  names.push_back("name " + std::to_string(i));
  if (names.size() > 100)
    names.clear();
  return names.empty() ? std::string("none") : names.back();
}

long count(int depth) {
  if (depth > 0)
    return count(depth - 1);
  std::lock_guard<std::mutex> guard(counted);
  static long calls;
  return ++calls;
}

void deferred(bool really) {
  std::unique_lock<std::mutex> guard(a, std::defer_lock);
  if (really) {
    guard.lock();
    ++counts;
    guard.unlock();
  }
}

void adopted() {
  b.lock();
  std::lock_guard<std::mutex> guard(b, std::adopt_lock);
  ++others;
}

long tried() {
  std::unique_lock<std::mutex> guard(b, std::try_to_lock);
  if (!guard.owns_lock())
    return 0;
  ++others;
  return 1;
}

// What a call gives that may throw, where the lock may be held and where not.
long may(long i) {
  if (i % 11 == 0)
    throw std::runtime_error("eleven");
  return i % 4;
}

void sometimes(long i, long &sum) {
  const bool held = i % 2 == 0;
  long found = -1;
  if (held)
    a.lock();
  try {
    found = may(i);
  } catch (...) {
    found = 7;
  }
  sum += found;
  if (held)
    a.unlock();
}

void within(long i, long &sum) {
  const bool held = i % 2 == 0;
  if (held)
    b.lock();
  try {
    const long found = i % 3 == 0 ? may(i) : 0;
    sum += found;
  } catch (...) {
    ++sum;
  }
  if (held)
    b.unlock();
}

struct Own {
  long found = 0;
  long fives = 0;
  long tries = 0;
  long sums = 0;
};

void work(Own &own) {
  for (long i = 1; i <= kRounds; ++i) {
    own.found += loop(10);
    try {
      handled(i);
    } catch (int five) {
      own.fives += five == 5 ? 1 : 0;
    }
    sometimes(i, own.sums);
    within(i, own.sums);
    both();
    if (name(i).empty())
      std::abort();
    count(3);
    deferred(i % 2 == 0);
    adopted();
    own.tries += tried();
    node->add(1);
    [] {
      std::scoped_lock guard(a);
      ++counts;
    }();
  }
}

int wrong(const char *what, long found, long wanted) {
  if (found == wanted)
    return 0;
  std::printf("%s: %ld, not %ld\n", what, found, wanted);
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  const long threads = argc > 1 ? std::atol(argv[1]) : 4;
  node = std::make_unique<Node>();
  std::vector<Own> own(static_cast<std::size_t>(threads));
  std::vector<std::thread> all;
  for (Own &each : own)
    all.emplace_back(work, std::ref(each));
  for (std::thread &thread : all)
    thread.join();
  Own sum;
  for (const Own &each : own) {
    sum.found += each.found;
    sum.fives += each.fives;
    sum.tries += each.tries;
    sum.sums += each.sums;
  }
  const long rounds = threads * kRounds;
  long sums = 0;
  for (long i = 1; i <= kRounds; ++i) {
    sums += i % 11 == 0 ? 7 : i % 4;
    sums += i % 3 != 0 ? 0 : i % 11 == 0 ? 1 : i % 4;
  }
  return wrong("found", found_by_loops, sum.found) | wrong("in loops", sum.found, 7 * rounds) |
         wrong("threes", threes, threads * (kRounds / 3)) |
         wrong("fives", sum.fives, threads * (kRounds / 5 - kRounds / 15)) |
         wrong("passed", passed, rounds - threes - sum.fives) |
         wrong("both", calls_of_both, rounds) | wrong("others", others, rounds + sum.tries) |
         wrong("counts", counts, rounds + rounds / 2) | wrong("sums", sum.sums, threads * sums) |
         wrong("node", node->value, rounds) | wrong("calls", count(0), rounds + 1);
}
