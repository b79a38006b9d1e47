// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A queue with a limit: std::condition_variable, with a predicate, without one, and until a time.
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr long kItems = 1000; // of a thread
constexpr std::size_t kMost = 8;

class Queue {
public:
  void put(long item) {
    std::unique_lock<std::mutex> guard(mutex_);
    not_full_.wait(guard, [this] { return items_.size() < kMost; });
    items_.push_back(item);
    guard.unlock();
    not_empty_.notify_one();
  }
  long take() {
    std::unique_lock<std::mutex> guard(mutex_);
    while (items_.empty())
      not_empty_.wait(guard);
    return take_first();
  }
  // Nothing comes any more: false after a while.
  bool take_within(std::chrono::milliseconds time, long &item) {
    std::unique_lock<std::mutex> guard(mutex_);
    while (items_.empty())
      if (not_empty_.wait_for(guard, time) == std::cv_status::timeout)
        return false;
    item = take_first();
    return true;
  }

private:
  long take_first() {
    const long item = items_.front();
    items_.pop_front();
    not_full_.notify_all();
    return item;
  }
  std::mutex mutex_;
  std::condition_variable not_full_;
  std::condition_variable not_empty_;
  std::deque<long> items_;
};

Queue queue;

} // namespace

int main(int argc, char **argv) {
  const int count = argc > 1 ? std::atoi(argv[1]) : 4;
  std::vector<long> sums(static_cast<std::size_t>(count));
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([] {
      for (long item = 1; item <= kItems; ++item)
        queue.put(item);
    });
    threads.emplace_back([&sums, i] {
      for (long item = 0; item < kItems; ++item)
        sums[static_cast<std::size_t>(i)] += queue.take();
    });
  }
  for (std::thread &thread : threads)
    thread.join();
  long sum = 0;
  for (const long each : sums)
    sum += each;
  long item = 0;
  const bool more = queue.take_within(std::chrono::milliseconds(1), item);
  const long wanted = count * kItems * (kItems + 1) / 2;
  if (sum == wanted && !more)
    return 0;
  std::printf("sum %ld, not %ld; %s\n", sum, wanted, more ? "an item more" : "no item more");
  return 1;
}
