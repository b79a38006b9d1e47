// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a profile names: the n-th line that says "section" has to have n commits, and 30 belong to
// what has no function of its own. No two do the same, which gcc would make one.
#include <tandem/transaction.hpp>

namespace {

tandem::shared<long> total;

void add_one() { total += 11; } // section

struct Adder {
  long by;
  void operator()() const noexcept { total += by; } // section
};

struct Base {
  virtual ~Base() = default;
  virtual void operator()() = 0;
};
struct Derived : Base {
  void operator()() override { total += 12; }
};

template <class Body> void times(int count, Body &&body) {
  for (int i = 0; i < count; ++i)
    body();
}

} // namespace

int main() {
  times(1, [] { tandem::transaction(add_one); });
  times(2, [adder = Adder{2}] { tandem::transaction(adder); });
  times(3, [] { tandem::transaction([] { total += 13; }); }); // section
  long local = 0;
  times(4, [&] { local = tandem::transaction([&] { return total + local; }); }); // section
  times(5, [] {
    (void)tandem::try_transaction([]() mutable { total += 14; }); // section
  });
  times(6, [] { tandem::transaction_or_throw([] { total += 15; }); }); // section
  auto *const pointer = +[] { total += 16; };                          // section
  times(7, [&] { tandem::transaction(pointer); });

  times(10, [] { tandem::transaction([](auto... none) { total += sizeof...(none); }); });
  Derived derived;
  Base &base = derived;
  times(20, [&] { tandem::transaction(base); });
  return 0;
}
