// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Time to enter and leave a section under the global lock, or with one colour, where nobody waits,
// beside a pthread mutex. Built by global-lock.toml with full LTO, as programs get the runtime's
// inline code.
#include "runtime/abi/inline.h"

#include <benchmark/benchmark.h>

#include <pthread.h>
#include <thread>

namespace {

tandem_colour_table table = {
    TANDEM_ABI_VERSION, sizeof(tandem_colour_table), 0, 0, 1, 0, "bench", nullptr, nullptr};
constexpr tandem_section section = {TANDEM_ABI_VERSION,
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
// The same with one colour of its own, and with one that transactions share.
constexpr tandem_colour colours[] = {{"A", 0, 0}, {"B", TANDEM_COLOUR_SHARED, 0}};
tandem_colour_table coloured = {
    TANDEM_ABI_VERSION, sizeof(tandem_colour_table), 2, 1, 2, 0, "bench", colours, nullptr};
constexpr std::uint64_t sets[] = {1, 2};
constexpr tandem_section with_colour(std::uint32_t index) {
  tandem_section made = section;
  made.section_class = TANDEM_CLASS_NON_REVOCABLE;
  made.irrevocable_at = TANDEM_IRREVOCABLE_BEGIN;
  made.index = index;
  made.colours = made.guard = &sets[index];
  made.table = &coloured;
  return made;
}
const tandem_section own = with_colour(0);
const tandem_section shared = with_colour(1);

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

void in_section(benchmark::State &state, const tandem_section &entered) {
  for (auto _ : state) {
    _TANDEM_colours_enter(&entered);
    increment();
    _TANDEM_colours_leave(&entered);
  }
}
void colour(benchmark::State &state) { in_section(state, own); }
BENCHMARK(colour);
void shared_colour(benchmark::State &state) { in_section(state, shared); }
BENCHMARK(shared_colour);

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
