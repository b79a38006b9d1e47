// Functions that return a guard make it where their caller wants it: its end is the region's, also where the guard is a
// part of what is returned.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json | %FileCheck %s
#include <mutex>
template <class T> class Synchronized {
public:
  class Pointer {
  public:
    Pointer(std::mutex &mutex, T *to) : guard_(mutex), to_(to) {}
    T *operator->() { return to_; }

  private:
    std::unique_lock<std::mutex> guard_;
    T *to_;
  };
  Pointer lock() { return Pointer(mutex_, &value_); }
  Pointer operator->() { return lock(); }

private:
  std::mutex mutex_;
  T value_;
};
struct Counts {
  long n = 0;
};
static Synchronized<Counts> counts;
static std::mutex global;
static long n, k;
static std::unique_lock<std::mutex> get() { return std::unique_lock<std::mutex>(global); }
static void of_global() {
  {
    auto guard = get();
    // CHECK-DAG: section {{.*}}of_global{{.*}}_1 lock-region line [[#@LINE-1]]: mutex std-mutex global, {{[12]}} exits, same-function
    ++n;
  }
  ++k;
  auto guard = get();
  // CHECK-DAG: section {{.*}}of_global{{.*}}_2 lock-region line [[#@LINE-1]]: mutex std-mutex global, {{[12]}} exits, same-function
  ++n;
}
int main() {
  of_global();
  counts->n = 1;
  // CHECK-DAG: section main_1 lock-region line [[#@LINE-1]]: mutex std-mutex counts.mutex_, {{[12]}} exits, same-function
  auto locked = counts.lock();
  // CHECK-DAG: section main_2 lock-region line [[#@LINE-1]]: mutex std-mutex counts.mutex_, {{[12]}} exits, same-function
  ++locked->n;
  return 0;
}
// CHECK-NOT: does not release it
