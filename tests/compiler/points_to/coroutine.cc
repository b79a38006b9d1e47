// Who resumes a coroutine runs it, and what it waits for.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <coroutine>
#include <pthread.h>
static long ran, waited;
struct Wait {
  bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<>) noexcept { waited++; }
  void await_resume() noexcept {}
};
struct Task {
  struct promise_type {
    long *where = nullptr;
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    Wait initial_suspend() noexcept { return {}; }
    Wait final_suspend() noexcept { return {}; }
    Wait yield_value(long *given) {
      where = given;
      return {};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};
static Task task;
static long yielded;
static Task count(long *by) {
  for (;;) {
    ++*by;
    co_yield &yielded;
  }
}
__attribute__((atomic)) void body() { ran++; }
__attribute__((atomic)) void promised() { yielded++; }
__attribute__((atomic)) void resumes() { task.handle.resume(); }
__attribute__((atomic)) void takes() { ++*task.handle.promise().where; }
__attribute__((atomic)) void waits() { waited++; }
static void *run(void *unused) {
  resumes();
  takes();
  return unused;
}
int main() {
  task = count(&ran);
  pthread_t thread;
  pthread_create(&thread, nullptr, run, nullptr);
  body();
  promised();
  waits();
  return pthread_join(thread, nullptr);
}
// CHECK: "name": "body()"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "resumes()"
// CHECK: "name": "promised()"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "takes()"
// CHECK: "name": "waits()"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "resumes()"
