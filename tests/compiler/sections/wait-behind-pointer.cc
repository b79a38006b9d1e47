// A condition variable of the program's own that finds its lock by a pointer: the regions of those who wait are what they
// are under the lock's own name.
// RUN: %cxx -std=c++17 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json | %FileCheck %s
#include <condition_variable>
#include <mutex>
class Mutex {
public:
  void Lock() { mu_.lock(); }
  void Unlock() { mu_.unlock(); }

private:
  friend class Condition;
  std::mutex mu_;
};
class Condition {
public:
  explicit Condition(Mutex *mu) : mu_(mu) {}
  void Wait() {
    std::unique_lock<std::mutex> lock(mu_->mu_, std::adopt_lock);
    cv_.wait(lock);
    lock.release();
  }
  void Signal() { cv_.notify_one(); }

private:
  std::condition_variable cv_;
  Mutex *const mu_;
};
struct Shared {
  Mutex mu;
  Condition cv{&mu};
  int ready = 0;
};
__attribute__((noinline)) void until(Shared *shared, int count) {
  shared->mu.Lock();
  // CHECK-DAG: section until(Shared*, int)_1 lock-region line [[#@LINE-1]]: mutex std-mutex shared->mu.mu_, 1 exits, same-function
  while (shared->ready < count)
    shared->cv.Wait();
  shared->ready -= count;
  shared->mu.Unlock();
}
__attribute__((noinline)) void add(Shared *shared) {
  shared->mu.Lock();
  // CHECK-DAG: section add(Shared*)_1 lock-region line [[#@LINE-1]]: mutex std-mutex shared->mu.mu_, 1 exits, same-function
  ++shared->ready;
  shared->cv.Signal();
  shared->mu.Unlock();
}
int main() {
  static Shared first;
  static Shared second;
  add(&first);
  until(&first, 1);
  add(&second);
  until(&second, 1);
}
// CHECK-NOT: until{{.*}}escapes
