// Where only an exception leaves a function with its lock held, that is the reason that is given.
// RUN: %cxx -std=c++17 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json > %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
#include <mutex>
struct Cleaner {
  ~Cleaner();
};
void may_throw(int);
static std::mutex m;
static int n;
void thrown(int v) {
  Cleaner cleaner;
  m.lock();
  may_throw(v);
  ++n;
  m.unlock();
}
int returned(int v) {
  Cleaner cleaner;
  m.lock();
  may_throw(v);
  if (v < 0)
    return 0;
  m.unlock();
  return n;
}
// No exception where a function that is called releases the lock, and calls itself.
void finish() {
  if (++n < 9)
    return finish();
  m.unlock();
}
void handed_on() {
  m.lock();
  finish();
}
// CHECK: site line 14 thrown(int): lock {{.*}}an exception that leaves thrown(int) leaves it locked
// CHECK: site line 21 returned(int): lock {{.*}}some path of returned(int) returns without releasing it
// CHECK: site line [[#@LINE-5]] handed_on(): lock {{.*}}handed_on() calls a function that releases it
