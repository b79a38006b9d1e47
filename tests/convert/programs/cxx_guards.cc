// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locks and guards of the C++ library: guards that exceptions end, guards that are given up and
// taken again, readers; and a mutex and its guard that the program makes of them.
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

class Mutex {
public:
  void acquire() { inner_.lock(); }
  void release() { inner_.unlock(); }

private:
  std::mutex inner_;
};

class Holder {
public:
  explicit Holder(Mutex *mutex) : mutex_(mutex) { mutex_->acquire(); }
  ~Holder() { mutex_->release(); }
  Holder(const Holder &) = delete;

private:
  Mutex *mutex_;
};

// What moves from one end to the other, with both held.
class Scale {
public:
  void move(long amount) {
    const Holder one(&left_mutex_);
    const Holder other(&right_mutex_);
    left_ -= amount;
    if (left_ % 5 == 0) {
      left_ += amount;
      throw std::runtime_error("five");
    }
    right_ += amount;
  }
  [[nodiscard]] bool level() {
    const Holder one(&left_mutex_);
    const Holder other(&right_mutex_);
    return left_ + right_ == 0;
  }

private:
  Mutex left_mutex_, right_mutex_;
  long left_ = 0;
  long right_ = 0;
};

Account account;
Scale scale;
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
    try {
      scale.move(1 + i % 3);
    } catch (const std::runtime_error &) {
    }
    if (i % 64 == 0 && !scale.level())
      note("a scale that is not level; ");
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
  if (!scale.level())
    note("the scale; ");
  if (account.total() != all)
    note("the account's total; ");
  if (table.sum() != static_cast<long>(count) * (kRounds / 4))
    note("the table's sum; ");
  std::printf("%s", wrong.c_str());
  return wrong.empty() ? 0 : 1;
}
