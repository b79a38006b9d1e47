// std's condition variables: the guard that is handed over names the lock.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json > %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
std::mutex mutex;
std::shared_mutex readers;
std::condition_variable changed;
std::condition_variable_any any;
int x;
int main() {
  {
    std::unique_lock guard(mutex);
    while (x == 0)
      changed.wait(guard);
  }
  // CHECK: section main_1 lock-region line [[#@LINE-4]]: mutex std-mutex mutex, 2 exits, same-function
  // CHECK: section main_2 lock-region line [[#@LINE-3]]: wait std-mutex mutex, 2 exits, same-function
  {
    std::unique_lock guard(mutex);
    changed.wait(guard, [] { return x != 0; });
  }
  // CHECK: section main_4 lock-region line [[#@LINE-2]]: wait std-mutex mutex, 1 exits, same-function
  {
    std::shared_lock guard(readers);
    any.wait_for(guard, std::chrono::seconds(1));
  }
  // CHECK: section main_6 lock-region line [[#@LINE-2]]: wait std-shared-mutex shared readers, 1 exits, same-function
  changed.notify_one();
  any.notify_all();
  // CHECK-DAG: site line [[#@LINE-2]] main: signal std-condition-variable changed: wakes
  // CHECK-DAG: site line [[#@LINE-2]] main: signal std-condition-variable any: wakes
}
