// Mutexes and guards of the program's own are seen through, however they keep the lock.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json > %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
#include <mutex>
#include <pthread.h>
class Mutex {
public:
  void lock() { pthread_mutex_lock(&inner_); }
  void unlock() { pthread_mutex_unlock(&inner_); }
  bool try_lock() { return pthread_mutex_trylock(&inner_) == 0; }

private:
  long uses_;
  pthread_mutex_t inner_;
};
class Guard {
public:
  explicit Guard(Mutex &mutex) : line_(0), mutex_(mutex) { mutex_.lock(); }
  ~Guard() { mutex_.unlock(); }

private:
  int line_;
  Mutex &mutex_;
};
class Holder {
public:
  explicit Holder(std::mutex &mutex) : guard_(mutex) {}

private:
  std::lock_guard<std::mutex> guard_;
};
struct cleanup {
  pthread_mutex_t *mutex;
};
static void drop(cleanup *guard) { pthread_mutex_unlock(guard->mutex); }
Mutex mine;
std::mutex theirs;
pthread_mutex_t plain;
int x;
int main() {
  {
    Guard guard(mine);
    ++x;
  }
  // CHECK: section main_1 lock-region line [[#@LINE-3]]: mutex pthread-mutex mine.inner_, 1 exits, same-function
  {
    Holder guard(theirs);
    ++x;
  }
  // CHECK: section main_2 lock-region line [[#@LINE-3]]: mutex std-mutex theirs, 1 exits, same-function
  {
    pthread_mutex_lock(&plain);
    cleanup guard __attribute__((cleanup(drop))) = {&plain};
    ++x;
  }
  // CHECK: section main_3 lock-region line [[#@LINE-4]]: mutex pthread-mutex plain, 1 exits, same-function
  if (mine.try_lock()) {
    ++x;
    mine.unlock();
  }
  // CHECK: section main_4 lock-region line [[#@LINE-4]]: trylock pthread-mutex mine.inner_, 1 exits, same-function
  // CHECK-DAG: site line [[#@LINE-54]] Mutex::lock(): lock pthread-mutex Mutex::inner_: inside a wrapper
  // CHECK-NOT: section
}
