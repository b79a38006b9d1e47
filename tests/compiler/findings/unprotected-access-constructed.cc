// No evidence: in a constructor, a template's too, before it tells of its object. Not in a function whose name
// only looks like a constructor's.
// RUN: %cxx %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s
#include <mutex>
#include <thread>
static std::mutex lock;
struct Counter {
  std::mutex *mutex;
  long fresh;
  template <class T> explicit Counter(T begin) : mutex(&lock) { fresh = begin; }
};
static Counter *counter;
struct VC1Encoder {
  long run_count;
  void run() { ++run_count; } // CHECK: {{^}}[[#@LINE]]: 'encoder.run_count' is written here outside all sections
};
static VC1Encoder encoder;
static void work() {
  for (int i = 0; i < 9; ++i) {
    auto *fresh = new Counter(i);
    std::lock_guard g(lock);
    ++encoder.run_count;
    counter = fresh;
    ++counter->fresh;
  }
  encoder.run();
}
int main() {
  std::thread a(work), b(work);
  a.join();
  b.join();
}
// CHECK: {{^}}1 findings
