// No evidence: a local variable that is told of later, also where its members are made by constructors of several
// levels. Once it was told of it is.
// RUN: %cxx %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s
#include <mutex>
#include <string>
#include <thread>
struct Key {
  std::string name;
};
struct Job {
  int left;
  bool done;
  Key begin;
};
static std::mutex lock;
static Job *current;
static void work() {
  for (int i = 0; i < 9; ++i) {
    std::lock_guard guard(lock);
    if (current != nullptr) {
      --current->left;
      current->done = true;
    }
  }
}
static void run(int left) {
  Job job;
  job.done = false;
  {
    std::lock_guard guard(lock);
    current = &job;
  }
  job.left = left; // CHECK: {{^}}[[#@LINE]]: '{{.*}}left' is written here outside all sections
  std::lock_guard guard(lock);
  current = nullptr;
}
int main() {
  std::thread thread(work);
  run(3);
  thread.join();
}
// CHECK: {{^}}1 findings
