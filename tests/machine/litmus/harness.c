// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs litmus tests (program.py): each some hundred times, its threads after a common barrier and a
// random delay, with lines that some of them have read or written before, or have for themselves.
// Some store to a line that no cache has first: what they store then waits in a store buffer.
// Prints for each outcome: number of the test, how often, registers, last values.
//
//   litmus TIMES SEED
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 4, kPlaces = 8, kResults = 16, kOutcomes = 1024 };
enum { kWords = kThreads * kResults + kPlaces };

struct test {
  void (*body[kThreads])(uint64_t *places, uint64_t *results);
  uint32_t results[kThreads];
  uint32_t threads;
  uint32_t places;
  uint64_t initial[kPlaces];
};
extern const struct test tests[], tests_end[];

static _Alignas(64) uint64_t places[kPlaces * 8];
static _Alignas(64) uint64_t results[kThreads][kResults];
static _Alignas(64) atomic_uint arrived;
static _Alignas(64) atomic_uint round_;
enum { kCold = 4096 }; // lines, more than caches have
static _Alignas(64) uint64_t cold[kThreads][kCold][8];
static unsigned times;
static uint64_t seed;

static struct {
  uint64_t words[kWords];
  unsigned count;
} outcomes[kOutcomes];
static unsigned outcome_count;

static uint64_t next(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

static void barrier(void) {
  const unsigned round = atomic_load(&round_);
  if (atomic_fetch_add(&arrived, 1) == kThreads - 1) {
    atomic_store(&arrived, 0);
    atomic_store(&round_, round + 1);
    return;
  }
  while (atomic_load(&round_) == round)
    ;
}

static void note(const struct test *test) {
  uint64_t words[kWords] = {0};
  unsigned count = 0;
  for (unsigned thread = 0; thread < test->threads; ++thread)
    for (unsigned i = 0; i < test->results[thread]; ++i)
      words[count++] = results[thread][i];
  for (unsigned place = 0; place < test->places; ++place)
    words[count++] = places[place * 8];
  unsigned i = 0;
  while (i < outcome_count && memcmp(outcomes[i].words, words, sizeof words) != 0)
    ++i;
  if (i == kOutcomes)
    abort();
  if (i == outcome_count) {
    memcpy(outcomes[i].words, words, sizeof words);
    outcomes[outcome_count++].count = 0;
  }
  ++outcomes[i].count;
}

static void print(unsigned number, const struct test *test) {
  unsigned words = test->places;
  for (unsigned thread = 0; thread < test->threads; ++thread)
    words += test->results[thread];
  for (unsigned i = 0; i < outcome_count; ++i) {
    printf("%u %u", number, outcomes[i].count);
    for (unsigned word = 0; word < words; ++word)
      printf(" %lu", (unsigned long)outcomes[i].words[word]);
    printf("\n");
  }
  outcome_count = 0;
}

static void once(const struct test *test, unsigned thread, unsigned round, uint64_t *state) {
  static const unsigned kDelays[] = {1, 8, 40, 200};
  const uint64_t random = next(state);
  if (thread == 0)
    for (unsigned place = 0; place < test->places; ++place)
      places[place * 8] = test->initial[place];
  barrier();
  for (unsigned place = 0; place < test->places; ++place)
    if (random >> place & 1)
      (void)*(volatile uint64_t *)&places[place * 8];
    else if (random >> (kPlaces + place) & 1)
      __atomic_fetch_or(&places[place * 8], 0, __ATOMIC_RELAXED);
  // Some places get an owner, on which all threads agree.
  barrier();
  uint64_t common = seed + ((uint64_t)round << 32);
  const uint64_t owners = next(&common);
  for (unsigned place = 0; place < test->places; ++place)
    if ((owners >> (4 * place) & 7) == thread)
      __atomic_fetch_or(&places[place * 8], 0, __ATOMIC_RELAXED);
  const unsigned delay = (random >> 32) % kDelays[random >> (2 * kPlaces) & 3];
  void (*body)(uint64_t *, uint64_t *) = thread < test->threads ? test->body[thread] : 0;
  barrier();
  for (volatile unsigned i = 0; i < delay; ++i)
    ;
  if (random >> 40 & 1)
    *(volatile uint64_t *)cold[thread][round % kCold] = 1;
  if (body)
    body(places, results[thread]);
  barrier();
  if (thread == 0)
    note(test);
}

static void *run(void *argument) {
  const unsigned thread = (unsigned)(uintptr_t)argument;
  uint64_t state = seed * kThreads + thread;
  unsigned round = 0;
  for (const struct test *test = tests; test < tests_end; ++test) {
    for (unsigned i = 0; i < times; ++i)
      once(test, thread, round++, &state);
    if (thread == 0)
      print((unsigned)(test - tests), test);
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  times = (unsigned)strtoul(argv[1], 0, 10);
  seed = strtoull(argv[2], 0, 10);
  pthread_t others[kThreads];
  for (uintptr_t thread = 1; thread < kThreads; ++thread)
    pthread_create(&others[thread], 0, run, (void *)thread);
  run(0);
  for (unsigned thread = 1; thread < kThreads; ++thread)
    pthread_join(others[thread], 0);
  return 0;
}
