// What a std::thread's function has captured by a pointer or got as an argument is not hidden; an address in two halves is.
// RUN: %cxx %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json hidden-pointer | %FileCheck %s --match-full-lines
#include <cstdint>
#include <thread>
#include <vector>
struct Counter {
  long n = 0;
  void count() { ++n; }
};
static void add(long *n) { ++*n; }
class Pool {
public:
  Pool() { threads_.emplace_back([this] { run(); }); }
  ~Pool() { threads_.front().join(); }

private:
  void run() { ++done_; }
  long done_ = 0;
  std::vector<std::thread> threads_;
};
int main() {
  Counter one;
  long two = 0;
  long three = 0;
  Pool pool;
  std::thread captures([&one] { one.count(); });
  std::thread gets(add, &two);
  const auto low = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&three));
  const auto high = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(&three) >> 32);
  std::thread halves([=] {
    ++*reinterpret_cast<long *>(static_cast<std::uintptr_t>(high) << 32 | low);
  });
  captures.join();
  gets.join();
  halves.join();
  return static_cast<int>(one.n + two + three);
}
// CHECK:32: this pointer may have been hidden in a number or in bytes: it counts as pointing to any of the {{[0-9]+}} objects whose addresses are
// CHECK-NEXT:1 findings
