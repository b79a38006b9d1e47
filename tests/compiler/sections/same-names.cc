// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lock that a lambda has captured, or one in an object of a class without a name, is another than
// the global variable of its name, and ends none of its regions.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json > %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
#include <mutex>
static std::mutex m;
static long n, k;
static struct {
  long first;
  void add() {
    ::m.lock();
    m.lock();
    ++k;
    m.unlock();
    ++n;
    ::m.unlock();
  }
  std::mutex m;
} unnamed;
void captured(std::mutex &other) {
  [&m = other] {
    ::m.lock();
    m.lock();
    ++k;
    m.unlock();
    ++n;
    ::m.unlock();
  }();
}
int main() {
  std::mutex other;
  unnamed.add();
  captured(other);
  return n != 2;
}
// CHECK-DAG: site line 13 {{.*}}add(): lock std-mutex m: [[ADD:.*_1]]{{$}}
// CHECK-DAG: site line 14 {{.*}}add(): lock std-mutex this->m: [[INNER:.*_2]]{{$}}
// CHECK-DAG: site line 16 {{.*}}add(): unlock std-mutex this->m: [[INNER]]{{$}}
// CHECK-DAG: site line 18 {{.*}}add(): unlock std-mutex m: [[ADD]]{{$}}
// CHECK-DAG: site line 24 captured{{.*}}: lock std-mutex m: [[OUTER:.*_1]]{{$}}
// CHECK-DAG: site line 25 captured{{.*}}: lock std-mutex m: [[CAPTURED:.*_2]]{{$}}
// CHECK-DAG: site line 27 captured{{.*}}: unlock std-mutex m: [[CAPTURED]]{{$}}
// CHECK-DAG: site line 29 captured{{.*}}: unlock std-mutex m: [[OUTER]]{{$}}
