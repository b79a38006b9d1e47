// No evidence: in a constructor, a template's too, before it tells of its object. Not where a constructor starts a
// thread, or a base has told of it, or in a function whose name only looks like a constructor's.
// RUN: %cxx %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s
#include <mutex>
#include <thread>
struct Starts {
  std::mutex m;
  long n = 0;
  std::thread t;
  Starts() : t([this] {
    std::lock_guard g(m);
    ++n;
  }) {}
  void poke() { ++n; } // CHECK-DAG: {{^}}[[#@LINE]]: '{{.*}}n' is written here outside all sections
};
struct Told;
static std::mutex lock;
static Told *known;
struct Base {
  Base();
};
struct Told : Base {
  long told;
  Told() { told = 1; } // CHECK-DAG: {{^}}[[#@LINE]]: '{{.*}}told' is written here outside all sections
};
Base::Base() {
  std::lock_guard g(lock);
  known = static_cast<Told *>(this);
}
struct Counter {
  std::mutex *mutex;
  long fresh;
  template <class T> explicit Counter(T begin) : mutex(&lock) { fresh = begin; }
};
static Counter *counter;
struct VC1Encoder {
  long run_count;
  void run() { ++run_count; } // CHECK-DAG: {{^}}[[#@LINE]]: '{{.*}}run_count' is written here outside all sections
};
static VC1Encoder encoder;
static void work() {
  for (int i = 0; i < 9; ++i) {
    auto *fresh = new Counter(i);
    new Told;
    std::lock_guard g(lock);
    ++encoder.run_count;
    counter = fresh;
    ++counter->fresh;
    ++known->told;
  }
  encoder.run();
}
int main() {
  Starts starts;
  starts.poke();
  std::thread a(work), b(work);
  a.join();
  b.join();
  starts.t.join();
}
// CHECK: {{^}}4 findings
