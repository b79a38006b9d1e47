// Inside of a class its objects and what they hold go by the class's name, what a lambda has captured
// by its own.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json > %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
// RUN: %FileCheck %s --check-prefix=JSON --input-file=%t.json
#include <mutex>
#include <thread>
struct Counted : std::mutex {
  long n = 0;
  void add() {
    lock();
    ++n;
    unlock();
  }
};
// CHECK: section Counted::add()_1 lock-region line [[#@LINE-5]]: mutex std-mutex Counted, 1 exits
template <class Key> class Ring {
public:
  void push(Key key) {
    std::lock_guard<std::mutex> guard(mutexes_[1]);
    keys_[at_++ % 8] = key;
  }

private:
  std::mutex mutexes_[2];
  unsigned at_ = 0;
  Key keys_[8];
};
// CHECK: section Ring<long>::push(long)_1 lock-region line [[#@LINE-9]]: mutex std-mutex Ring<long>::mutexes_[], 1 exits
class Tally {
public:
  void run() {
    std::thread([this] {
      std::lock_guard<std::mutex> guard(mutex_);
      ++n_;
    }).join();
  }
  // CHECK: section Tally::run()::{{.*}} lock-region line [[#@LINE-4]]: mutex std-mutex Tally::mutex_, 1 exits

private:
  std::mutex mutex_;
  long n_ = 0;
};
static Counted counted;
static Ring<long> ring;
static Tally tally;
int main() {
  long total = 0;
  std::mutex own;
  auto work = [&total, &own] {
    counted.add();
    ring.push(1);
    std::lock_guard<std::mutex> guard(own);
    ++total;
  };
  // CHECK: section main::$_0::operator()() const_1 lock-region line [[#@LINE-3]]: mutex std-mutex own, 1 exits
  std::thread a(work), b(work);
  a.join();
  b.join();
  tally.run();
  return total != 2;
}
// JSON: "name": "Counted::n"
// JSON: "name": "Ring<long>::at_"
// JSON-NOT: this->
