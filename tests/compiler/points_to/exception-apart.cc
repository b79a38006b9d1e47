// What is thrown is no memory that code outside the program knows.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
#include <stdexcept>
static long x;
__attribute__((atomic)) void mine() { x++; }
struct Failure {
  int code;
};
__attribute__((atomic)) int theirs() {
  try {
    throw Failure{1};
  } catch (const Failure &failure) {
    return failure.code;
  } catch (const std::runtime_error &) {
    return 2;
  }
}
static void *run(void *unused) {
  theirs();
  return unused;
}
int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, run, nullptr);
  mine();
  theirs();
  return pthread_join(thread, nullptr);
}
// CHECK: "name": "mine()"
// CHECK: "conflicts": []
// CHECK: "name": "theirs()"
// CHECK: "conflicts": []
