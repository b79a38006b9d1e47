// A guard of std's is the site where it is made and where it ends; its lock is its mutex.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json > %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
#include <mutex>
#include <shared_mutex>
std::mutex a, b;
std::recursive_mutex again;
std::shared_mutex readers;
int x;
struct Account {
  std::mutex mutex;
  long balance;
  void add(long amount) {
    std::lock_guard guard(mutex);
    balance += amount;
  }
};
// CHECK: section Account::add(long)_1 lock-region line [[#@LINE-4]]: mutex std-mutex Account::mutex, 1 exits, same-function
void early(bool done) {
  std::unique_lock guard(a);
  if (done) {
    guard.unlock();
    return;
  }
  ++x;
}
// CHECK: section early(bool)_1 lock-region line [[#@LINE-7]]: mutex std-mutex a, 2 exits, same-function
void deferred() {
  std::unique_lock guard(a, std::defer_lock);
  ++x;
  guard.lock();
}
// CHECK: section deferred()_1 lock-region line [[#@LINE-2]]: mutex std-mutex a, 1 exits, same-function
void tried() {
  std::unique_lock guard(a, std::try_to_lock);
  if (!guard)
    return;
  ++x;
}
// CHECK: section tried()_1 lock-region line [[#@LINE-5]]: trylock std-mutex a, 1 exits, same-function
void adopted() {
  again.lock();
  std::lock_guard guard(again, std::adopt_lock);
}
// CHECK: section adopted()_1 lock-region line [[#@LINE-3]]: mutex std-recursive-mutex again, 1 exits, same-function
void both() { std::scoped_lock guard(a, b); }
// CHECK: section both()_1 lock-region line [[#@LINE-1]]: mutex std-mutex a b, 1 exits, same-function
void one_by_one() {
  std::lock(a, b);
  a.unlock();
  ++x;
  b.unlock();
}
// CHECK: section one_by_one()_1 lock-region line [[#@LINE-5]]: mutex std-mutex a b, 1 exits, same-function
int read() {
  std::shared_lock guard(readers);
  return x;
}
// CHECK: section read()_1 lock-region line [[#@LINE-3]]: mutex std-shared-mutex shared readers, 1 exits, same-function
void moved() {
  std::unique_lock first(a);
  std::unique_lock second(std::move(first));
  ++x;
}
// CHECK: section moved()_1 lock-region line [[#@LINE-4]]: mutex std-mutex a, 1 exits, same-function
std::unique_lock<std::mutex> given() {
  std::unique_lock guard(a);
  return guard;
}
// CHECK: section main_1 lock-region line [[#@LINE+4]]: mutex std-mutex a, 2 exits, same-function
// CHECK: site line [[#@LINE-21]] one_by_one(): unlock std-mutex a: one_by_one()_1
int main() {
  Account().add(1);
  early(true), deferred(), tried(), adopted(), both(), one_by_one(), read(), moved(), given();
}
