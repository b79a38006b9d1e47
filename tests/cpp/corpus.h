// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the programs of corpus.py share: `program THREADS STEPS` runs the step of each case for 0 to
// STEPS - 1, dealt out to the threads, and prints the final states. With -DPLAIN, for a compiler
// that knows no sections, the steps hold one lock.
#pragma once

#include <pthread.h>

#include <cstdio>
#include <cstdlib>

#ifdef PLAIN
#define ATOMIC
#define tandem_atomic
namespace tandem {
template <typename Body> void atomic(Body &&body) { body(); }
} // namespace tandem
#else
#define ATOMIC __attribute__((atomic, noinline))
#include <tandem/tandem.hpp>
#endif

struct Case {
  const char *name;
  void (*run)(long);
  long (*sum)();
};

[[maybe_unused]] static pthread_mutex_t region_lock = PTHREAD_MUTEX_INITIALIZER;

struct Work {
  const Case *one;
  long first, threads, steps, left; // `left`: steps that an exception left
  pthread_t thread;
};

static void *work(void *given) {
  Work &work = *static_cast<Work *>(given);
  for (long k = work.first; k < work.steps; k += work.threads) {
    try {
      work.one->run(k);
    } catch (...) {
      ++work.left;
    }
  }
  return nullptr;
}

static long run_case(const Case &one, long threads, long steps) {
  Work works[8];
  for (long i = 0; i < threads; ++i) {
    works[i] = {&one, i, threads, steps, 0, {}};
    if (i > 0 && pthread_create(&works[i].thread, nullptr, work, &works[i]) != 0)
      std::abort();
  }
  work(&works[0]);
  long left = works[0].left;
  for (long i = 1; i < threads; ++i) {
    pthread_join(works[i].thread, nullptr);
    left += works[i].left;
  }
  return left;
}

#define CORPUS_MAIN(cases)                                                                         \
  int main(int, char **argv) {                                                                     \
    const long threads = std::atol(argv[1]), steps = std::atol(argv[2]);                           \
    for (const Case &one : cases) {                                                                \
      const long left = run_case(one, threads, steps);                                             \
      std::printf("%s %ld, %ld left\n", one.name, one.sum(), left);                                \
    }                                                                                              \
    std::fflush(stdout);                                                                           \
  }
