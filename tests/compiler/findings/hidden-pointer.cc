// hidden-pointer: once for a line, none in the C++ library's templates, and once for a function that has no lines.
// RUN: %cxx %s > %t.in.ll
// RUN: env TANDEM_ENFORCE=none %tandem < %t.in.ll > %t.ll
// RUN: %python %S/print.py %t.json hidden-pointer | %FileCheck %s
// RUN: %cxx -g0 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json hidden-pointer | %FileCheck %s --check-prefix=NOLINES
#include <cstdint>
#include <pthread.h>
#include <utility>
#include <vector>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long x, y, z;
static std::uintptr_t hidden[3];
static std::vector<long *> *found;
static long one() { return *reinterpret_cast<long *>(hidden[1] ^ 5); } static long two() { return *reinterpret_cast<long *>(hidden[2] ^ 5); }
static long sum() { std::swap(*reinterpret_cast<long *>(hidden[0] ^ 5), y); return one() + two(); }
static void *run(void *argument) {
  pthread_mutex_lock(&lock);
  found->push_back(reinterpret_cast<long *>(hidden[0] ^ 5));
  for (long *one : *found)
    ++*one;
  sum();
  pthread_mutex_unlock(&lock);
  return argument;
}
int main() {
  pthread_t threads[2];
  found = new std::vector<long *>;
  hidden[0] = reinterpret_cast<std::uintptr_t>(&x) ^ 5;
  hidden[1] = reinterpret_cast<std::uintptr_t>(&y) ^ 5;
  hidden[2] = reinterpret_cast<std::uintptr_t>(&z) ^ 5;
  for (pthread_t &thread : threads)
    pthread_create(&thread, nullptr, run, nullptr);
  for (const pthread_t thread : threads)
    pthread_join(thread, nullptr);
  return static_cast<int>(x + y + z);
}
// CHECK: {{^}}15: this pointer
// CHECK-NEXT: {{^}}16: this pointer
// CHECK-NEXT: {{^}}21: this pointer
// CHECK-NEXT: 3 findings
// NOLINES: 4 findings
