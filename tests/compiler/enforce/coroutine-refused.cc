// A section that a coroutine suspends in is left and entered again: no lock or transaction is. A block beside the
// suspensions is a section like any other, and a section may run a coroutine, alone.
// RUN: %cxx -std=c++20 -DFUNCTION %s > %t.function.ll
// RUN: not env TANDEM_ENFORCE=stm %tandem < %t.function.ll 2>&1 >/dev/null | %FileCheck --check-prefix=FUNCTION %s
// RUN: not env TANDEM_ENFORCE=global-lock %tandem < %t.function.ll 2>&1 >/dev/null | %FileCheck --check-prefix=FUNCTION %s
// RUN: env TANDEM_ENFORCE=none %tandem < %t.function.ll > /dev/null
// RUN: %cxx -std=c++20 -DBLOCK %s > %t.block.ll
// RUN: not env TANDEM_ENFORCE=hybrid %tandem < %t.block.ll 2>&1 >/dev/null | %FileCheck --check-prefix=BLOCK %s
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
// RUN: %FileCheck --check-prefix=REPORT --input-file=%t.json %s
#include <coroutine>
#include <tandem/tandem.h>
static long total;
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
#ifdef FUNCTION
__attribute__((atomic))
#endif
Task
coroutine() {
  tandem_atomic {
    ++total;
#ifdef BLOCK
    co_await std::suspend_always{};
#endif
  }
  co_await std::suspend_always{};
}
__attribute__((atomic)) void starts(int k) {
  if (++total > k)
    coroutine();
}
int main() { starts(1); }
// FUNCTION: tandem-cc: {{.*}}coroutine-refused.cc:{{[0-9]+}}: atomic section 'coroutine{{.*}}' is left and entered again where the coroutine is suspended; mark functions or blocks that suspend nowhere
// BLOCK: tandem-cc: {{.*}}coroutine-refused.cc:{{[0-9]+}}: atomic section '{{.*}}' is left and entered again where the coroutine is suspended
// CHECK: define {{.*}} @_Z6startsi{{.*}}.tandem.tm(
// CHECK: call void @_ITM_changeTransactionMode(i32 0)
// CHECK-NEXT: call void @_Z9coroutinev(
// REPORT: "name": "starts
// REPORT: "irrevocable_at": "reach"
