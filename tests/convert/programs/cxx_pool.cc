// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pool whose threads give up their lock while they work, and take it again: the guard asks each
// time whether it has a lock, which is a member of an object that is known by a pointer only.
#include "threads.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

class Pool {
public:
  explicit Pool(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i)
      threads_.emplace_back([this] { loop(); });
  }
  ~Pool() {
    {
      std::scoped_lock guard(mutex_);
      stops_ = true;
    }
    more_.notify_all();
    for (std::thread &thread : threads_)
      thread.join();
  }
  void submit(long job) {
    {
      std::lock_guard<std::mutex> guard(mutex_);
      jobs_.push_back(job);
    }
    more_.notify_one();
  }
  long drain() {
    std::unique_lock<std::mutex> guard(mutex_);
    idle_.wait(guard, [this] { return jobs_.empty() && busy_ == 0; });
    return done_;
  }

private:
  void loop() {
    std::unique_lock<std::mutex> guard(mutex_);
    for (;;) {
      more_.wait(guard, [this] { return stops_ || !jobs_.empty(); });
      if (jobs_.empty())
        return;
      long job = jobs_.front();
      jobs_.pop_front();
      ++busy_;
      guard.unlock();
      job = job * 3 + 1;
      guard.lock();
      done_ += job;
      if (--busy_ == 0 && jobs_.empty())
        idle_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable more_, idle_;
  std::deque<long> jobs_;
  bool stops_ = false;
  int busy_ = 0;
  long done_ = 0;
  std::vector<std::thread> threads_;
};

void nothing(unsigned) {}

} // namespace

int main(int argc, char **argv) {
  Pool pool(static_cast<unsigned>(run(argc, argv, nothing)));
  long wanted = 0;
  for (long job = 0; job < 300; ++job) {
    pool.submit(job);
    wanted += job * 3 + 1;
  }
  return expect("done", pool.drain(), wanted);
}
