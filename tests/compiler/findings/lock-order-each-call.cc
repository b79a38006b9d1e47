// A method that takes the lock of its object is called, with that of another object held, by several methods: whichever
// of them comes first, the one that was given the other object is found. A call for a certain object is no finding.
// RUN: %cxx %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s --match-full-lines --strict-whitespace
#include <mutex>
#include <thread>
class First {
public:
  void settle();
  void take(First &other) {
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
static First first_reserve;
void First::settle() {
  std::lock_guard<std::mutex> guard(m_);
  total_ += first_reserve.total();
}
class Last {
public:
  long total() {
    std::lock_guard<std::mutex> guard(m_);
    return total_;
  }
  void take(Last &other) {
    std::lock_guard<std::mutex> guard(m_);
    total_ += other.total();
  }
  void settle();

private:
  std::mutex m_;
  long total_ = 0;
};
static Last last_reserve;
void Last::settle() {
  std::lock_guard<std::mutex> guard(m_);
  total_ += last_reserve.total();
}
class Fixed {
public:
  long total() {
    std::lock_guard<std::mutex> guard(m_);
    return total_;
  }
  void settle();
  void settle_again();

private:
  std::mutex m_;
  long total_ = 0;
};
static Fixed fixed_reserve;
void Fixed::settle() {
  std::lock_guard<std::mutex> guard(m_);
  total_ += fixed_reserve.total();
}
void Fixed::settle_again() {
  std::lock_guard<std::mutex> guard(m_);
  total_ -= fixed_reserve.total();
}
int main() {
  First a, b;
  Last c, d;
  Fixed e;
  std::thread one([&] { a.settle(), a.take(b), c.take(d), c.settle(), e.settle(), e.settle_again(); });
  std::thread other([&] { b.settle(), b.take(a), d.take(c), d.settle(), e.settle(), e.settle_again(); });
  one.join();
  other.join();
}
// CHECK:15: a second lock of 'First::m_' is acquired while one is held: two threads that do so in different orders wait for each other for ever
// CHECK-NEXT:  11: 'First::m_' is acquired here, in 'First::take(First&)'
// CHECK-NEXT:  12: 'First::take(First&)' calls 'First::total()' here
// CHECK-NEXT:  15: 'First::m_' is acquired here while 'First::m_' is held
// CHECK-NEXT:31: a second lock of 'Last::m_' is acquired while one is held: two threads that do so in different orders wait for each other for ever
// CHECK-NEXT:  35: 'Last::m_' is acquired here, in 'Last::take(Last&)'
// CHECK-NEXT:  36: 'Last::take(Last&)' calls 'Last::total()' here
// CHECK-NEXT:  31: 'Last::m_' is acquired here while 'Last::m_' is held
// CHECK-NEXT:2 findings
