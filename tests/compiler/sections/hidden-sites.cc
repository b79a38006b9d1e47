// Acquisitions in templates of the C++ library, and functions whose address is taken, are sites with a reason.
// RUN: %cxx -std=c++17 %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json > %t.txt
// RUN: %FileCheck %s --input-file=%t.txt
#include <memory>
#include <mutex>
#include <optional>
#include <pthread.h>
static std::mutex m;
static int n;
void made() {
  auto hold = std::make_unique<std::lock_guard<std::mutex>>(m);
  ++n;
}
void put() {
  std::optional<std::unique_lock<std::mutex>> hold;
  hold.emplace(m);
  ++n;
}
void plain() {
  std::lock_guard<std::mutex> hold(m);
  ++n;
}
int (*chosen)(pthread_mutex_t *);
void choose(bool wait) { chosen = wait ? pthread_mutex_lock : pthread_mutex_trylock; }
int main() {
  choose(true);
  made();
  put();
  plain();
  return n;
}
// CHECK-DAG: site line 12 made(): lock std-mutex m: inside {{.*}}make_unique{{.*}}, which gives the lock on to a guard that is not followed
// CHECK-DAG: site line 17 put(): lock std-mutex m: inside {{.*}}emplace{{.*}}, which gives the lock on to a guard that is not followed
// CHECK-DAG: site line 21 plain(): lock std-mutex m: plain()_1
// CHECK-DAG: site line 25 choose(bool): lock pthread-mutex ?: the address of pthread_mutex_lock is taken: calls by pointer are not followed
// CHECK-DAG: site line 25 choose(bool): trylock pthread-mutex ?: the address of pthread_mutex_trylock is taken: calls by pointer are not followed
