// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Time to enter and leave a section under the global lock where nobody waits, beside a pthread
// mutex. Built by global-lock.toml with full LTO, as programs get the runtime's inline code.
#include "runtime/abi/inline.h"

#include <benchmark/benchmark.h>

#include <pthread.h>
#include <thread>

namespace {

tandem_colour_table table = {
    TANDEM_ABI_VERSION, sizeof(tandem_colour_table), 0, 0, 1, 0, "bench", nullptr, nullptr};
const tandem_section section = {TANDEM_ABI_VERSION,
                                sizeof(tandem_section),
                                TANDEM_KIND_FUNCTION,
                                TANDEM_CLASS_PURE,
                                TANDEM_IRREVOCABLE_NEVER,
                                0,
                                0,
                                1,
                                0,
                                "section",
                                "global_lock.cc",
                                nullptr,
                                nullptr,
                                &table};
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
long counter = 0;

void increment() {
  ++counter;
  benchmark::ClobberMemory(); // the increment happens in each section
}

void pthread_mutex(benchmark::State &state) {
  for (auto _ : state) {
    pthread_mutex_lock(&mutex);
    increment();
    pthread_mutex_unlock(&mutex);
  }
}
BENCHMARK(pthread_mutex);

void library(benchmark::State &state) {
  for (auto _ : state) {
    _TANDEM_global_lock_enter(&section);
    increment();
    _TANDEM_global_lock_leave(&section);
  }
}
BENCHMARK(library);

void outermost(benchmark::State &state) {
  for (auto _ : state) {
    _TANDEM_inline_global_lock_enter(&section);
    increment();
    _TANDEM_inline_global_lock_leave(&section);
  }
}
BENCHMARK(outermost);

void nested(benchmark::State &state) {
  _TANDEM_global_lock_enter(&section);
  for (auto _ : state) {
    _TANDEM_inline_global_lock_enter(&section);
    increment();
    _TANDEM_inline_global_lock_leave(&section);
  }
  _TANDEM_global_lock_leave(&section);
}
BENCHMARK(nested);

} // namespace

int main(int argc, char **argv) {
  // A process that never had a second thread takes locks without atomic instructions (glibc).
  // Programs with sections are not like that.
  std::thread([] {}).join();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv))
    return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
