// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every kind of function that C++ has can be a section.
// RUN: %cxx -O0 -Wno-c++23-lambda-attributes -S -emit-llvm %s -o - | %FileCheck %s
// RUN: %cxx -O2 -Wno-c++23-lambda-attributes -S -emit-llvm %s -o - | %FileCheck %s
// CHECK: @llvm.global.annotations =
// CHECK-SAME: ptr @_ZN7Counter3addEv,
// CHECK-SAME: ptr @_ZN7CounterC2Ev,
// CHECK-SAME: ptr @_ZN7Counter7dynamicEv,
// CHECK-SAME: ptr @_ZN7Counter6sharedEv,
// CHECK-SAME: ptr @_ZN3BoxIiE3addEi,
// CHECK-SAME: ptr @_Z7genericIiET_S0_,
// CHECK-SAME: ptr @"_ZZ3useR7CounterENK3$_0clEi",
// CHECK-SAME: ptr @"_ZZ3useR7CounterENK3$_1clEi",
// CHECK-SAME: ptr @_Z10at_runtimei,
int x;

struct Counter {
  __attribute__((atomic)) void add();
  __attribute__((atomic)) Counter();
  [[tandem::atomic]] virtual void dynamic();
  static void shared() __attribute__((atomic));
};
void Counter::add() { ++x; }
Counter::Counter() { ++x; }
void Counter::dynamic() { ++x; }
void Counter::shared() { ++x; }

template <typename T> struct Box {
  [[tandem::atomic]] T add(T by) { return x += by; }
};
template int Box<int>::add(int);

template <typename T> __attribute__((atomic)) T generic(T by) { return x += by; }
template int generic(int);

__attribute__((atomic)) constexpr int at_runtime(int by) { return by + 1; }
static_assert(at_runtime(1) == 2); // at compile time there is nothing to exclude

int use(Counter &counter) {
  counter.add();
  auto gnu = [](int by) __attribute__((atomic)) { return x += by; };
  auto standard = [] [[tandem::atomic]] (int by) { return x += by; };
  return gnu(1) + standard(2) + at_runtime(x);
}
