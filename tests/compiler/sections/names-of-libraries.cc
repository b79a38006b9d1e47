// Nothing is named by the insides of the C and C++ libraries: not C11's locks, not what a container, a pointer or an optional gives, not what a thread
// begins with.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/../findings/print.py %t.json unguarded-access > %t.txt
// RUN: %python %S/../findings/print.py %t.json possible-race >> %t.txt
// RUN: %python %S/../findings/print.py %t.json unprotected-access >> %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
// RUN: %FileCheck %s --input-file=%t.json --check-prefix=LOCKS
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <threads.h>
#include <vector>
struct Counter {
  long n = 0;
  void add() { ++n; }
};
struct Account {
  mtx_t guard;
  long balance;
};
static Counter counter;
static Account account;
static std::vector<long> values(4);
static std::unique_ptr<Counter> owned;
static std::optional<Counter> maybe;
static void work() {
  counter.add();
  ++values[1];
  ++owned->n;
  ++maybe->n;
  mtx_lock(&account.guard);
  ++account.balance;
  mtx_unlock(&account.guard);
}
int main() {
  owned = std::make_unique<Counter>();
  maybe.emplace();
  mtx_init(&account.guard, mtx_plain);
  std::thread one(work), other(work);
  one.join();
  other.join();
}
// CHECK-NOT: {{_M_|_State|__|operator}}
// CHECK-DAG: 'Counter::n' is written here and written by another thread
// CHECK-DAG: 'values[]' is written here
// CHECK-DAG: 'owned->n' is written here
// CHECK-DAG: written here, by the thread that begins with 'work()'
// CHECK-NOT: {{_M_|_State|__|operator}}
// LOCKS: "field": "Account::guard"
// LOCKS-NOT: __size
