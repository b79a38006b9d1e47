// A method holds the lock of its object and calls one that takes the lock of another object, which it was given: two
// threads that do so with the two swapped wait for each other. Not an object that is reached through the first one, nor
// one whose address is compared first.
// RUN: %cxx %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s --match-full-lines --strict-whitespace
#include <mutex>
#include <thread>
class Stats {
public:
  void merge(Stats &other) {
    std::lock_guard<std::mutex> guard(m_);
    total_ += other.total();
  }
  long total() {
    std::lock_guard<std::mutex> guard(m_);
    return total_;
  }

private:
  std::mutex m_;
  long total_ = 0;
};
class Ordered {
public:
  void merge(Ordered &other) {
    if (&other < this)
      return other.merge(*this);
    std::lock_guard<std::mutex> guard(m_);
    other.add(total_);
  }
  void add(long n) {
    std::lock_guard<std::mutex> guard(m_);
    total_ += n;
  }

private:
  std::mutex m_;
  long total_ = 0;
};
class Node {
public:
  explicit Node(Node *parent) : parent_(parent) {}
  void add(long n) {
    std::lock_guard<std::mutex> guard(m_);
    total_ += n;
    if (parent_ != nullptr)
      parent_->add(n);
  }

private:
  std::mutex m_;
  Node *parent_;
  long total_ = 0;
};
int main() {
  Stats a, b;
  Ordered c, d;
  Node root(nullptr), leaf(&root);
  std::thread one([&] { a.merge(b), c.merge(d), leaf.add(1); });
  std::thread other([&] { b.merge(a), d.merge(c), leaf.add(2); });
  one.join();
  other.join();
}
// CHECK:15: a second lock of 'Stats::m_' is acquired while one is held: two threads that do so in different orders wait for each other for ever
// CHECK-NEXT:  11: 'Stats::m_' is acquired here, in 'Stats::merge(Stats&)'
// CHECK-NEXT:  12: 'Stats::merge(Stats&)' calls 'Stats::total()' here
// CHECK-NEXT:  15: 'Stats::m_' is acquired here while 'Stats::m_' is held
// CHECK-NEXT:1 findings
