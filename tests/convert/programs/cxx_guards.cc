// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locks and guards of the C++ library: guards that exceptions end, guards that are given up and
// taken again, readers.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr long kRounds = 2000;

class Account {
public:
  void put(long amount) {
    std::lock_guard<std::mutex> guard(mutex_);
    balance_ += amount;
    if (balance_ % 7 == 0)
      throw std::runtime_error("seven");
  }
  long take() {
    std::unique_lock<std::mutex> guard(mutex_);
    if (balance_ == 0)
      return 0;
    --balance_;
    guard.unlock();
    const long seen = balance_unlocked();
    guard.lock();
    ++taken_;
    return seen >= 0 ? 1 : 0;
  }
  [[nodiscard]] long total() {
    const std::scoped_lock guard(mutex_);
    return balance_ + taken_;
  }

private:
  [[nodiscard]] long balance_unlocked() const { return 1; }
  std::mutex mutex_;
  long balance_ = 0;
  long taken_ = 0;
};

class Table {
public:
  void add(long key) {
    std::unique_lock<std::shared_mutex> guard(mutex_);
    ++counts_[key];
    ++sum_;
  }
  [[nodiscard]] bool agrees() const {
    std::shared_lock<std::shared_mutex> guard(mutex_);
    long sum = 0;
    for (const auto &[key, count] : counts_)
      sum += count;
    return sum == sum_;
  }
  [[nodiscard]] long sum() const {
    std::shared_lock guard(mutex_);
    return sum_;
  }

private:
  mutable std::shared_mutex mutex_;
  std::map<long, long> counts_;
  long sum_ = 0;
};

Account account;
Table table;
std::mutex wrong_lock;
std::string wrong;

void note(const char *what) {
  wrong_lock.lock();
  wrong += what;
  wrong_lock.unlock();
}

void work(unsigned thread, long *puts, long *sevens) {
  for (long i = 0; i < kRounds; ++i) {
    try {
      ++*puts;
      account.put(1);
    } catch (const std::runtime_error &) {
      ++*sevens;
    }
    if (i % 3 == 0)
      account.take();
    if (i % 4 == 0)
      table.add((thread + i) % 16);
    else if (!table.agrees())
      note("a table in pieces; ");
  }
}

} // namespace

int main(int argc, char **argv) {
  const unsigned count = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 4;
  std::vector<std::thread> threads;
  std::vector<long> puts(count);
  std::vector<long> sevens(count);
  for (unsigned i = 0; i < count; ++i)
    threads.emplace_back(work, i, &puts[i], &sevens[i]);
  for (std::thread &thread : threads)
    thread.join();
  long all = 0;
  for (const long each : puts)
    all += each;
  if (account.total() != all)
    note("the account's total; ");
  if (table.sum() != static_cast<long>(count) * (kRounds / 4))
    note("the table's sum; ");
  std::printf("%s", wrong.c_str());
  return wrong.empty() ? 0 : 1;
}
