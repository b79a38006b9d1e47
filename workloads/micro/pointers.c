/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What containers of C programs do in transactions: calls through pointers to comparators that read
 * strings byte by byte, and transactions that may be cancelled. One thread, no other lives.
 *
 *     pointers BENCHMARK MILLISECONDS
 *
 * strings: hashes of 64 bytes through a pointer; sorted: a table of 256 names, looked up by a
 * comparator, every eighth renamed; reserve: 8 of 4,096 counters, where every 16th transaction
 * finds one used up, gives all back and is cancelled. Prints one JSON object: operations, CPU
 * nanoseconds per operation. Status 1 if a result is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SAFE __attribute__((transaction_safe))

enum { NAMES = 256, COUNTERS = 4096, RESERVED = 8, PER_LOOK = 64 };

static char names[NAMES][32];
static long uses[NAMES];
static long counters[COUNTERS];
static long cancelled;
static unsigned char text[65] = "0123456789012345678901234567890123456789012345678901234567890123";

SAFE static long hash(const unsigned char *bytes) {
  long sum = 0;
  while (*bytes)
    sum = sum * 31 + *bytes++;
  return sum;
}

SAFE static int by_name(const char *a, const char *b) {
  while (*a && *a == *b) {
    ++a;
    ++b;
  }
  return (unsigned char)*a - (unsigned char)*b;
}

/* Variables, as fields of containers are: the compiler does not know what is called. */
SAFE long (*hash_by)(const unsigned char *) = hash;
SAFE int (*compare_by)(const char *, const char *) = by_name;

static unsigned long draw(unsigned long *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

static long strings(unsigned long *state) {
  long sum = 0;
  (void)state;
  __transaction_atomic { sum += hash_by(text); }
  return sum == 0;
}

static long sorted(unsigned long *state) {
  const unsigned long random = draw(state);
  char name[32];
  snprintf(name, sizeof name, "a name with a number %03lu", random % NAMES);
  long found = -1;
  __transaction_atomic {
    int low = 0, high = NAMES - 1;
    while (low <= high) {
      const int middle = (low + high) / 2;
      const int order = compare_by(name, names[middle]);
      if (order == 0) {
        found = middle;
        ++uses[middle];
        break;
      }
      if (order < 0)
        high = middle - 1;
      else
        low = middle + 1;
    }
    if (found >= 0 && random % 8 == 0)
      for (int i = 0; name[i] != 0; ++i)
        names[found][i] = name[i];
  }
  return found != (long)(random % NAMES);
}

static long reserve(unsigned long *state) {
  unsigned long random = draw(state);
  const int fails = random % 16 == 0;
  long got = 0;
  __transaction_atomic {
    for (int i = 0; i < RESERVED; ++i) {
      random = random * 6364136223846793005ul + 1442695040888963407ul;
      ++counters[(random >> 33) % COUNTERS];
    }
    got = 1;
    if (fails)
      __transaction_cancel;
  }
  cancelled += fails;
  return got == fails;
}

struct benchmark {
  const char *name;
  long (*run)(unsigned long *state);
};
static const struct benchmark benchmarks[] = {
    {"strings", strings}, {"sorted", sorted}, {"reserve", reserve}};

static double cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

int main(int count, char **arguments) {
  const struct benchmark *chosen = NULL;
  for (size_t i = 0; count == 3 && i < sizeof benchmarks / sizeof *benchmarks; ++i)
    if (strcmp(benchmarks[i].name, arguments[1]) == 0)
      chosen = &benchmarks[i];
  if (chosen == NULL) {
    fprintf(stderr, "usage: pointers strings|sorted|reserve MILLISECONDS\n");
    return 2;
  }
  for (int i = 0; i < NAMES; ++i)
    snprintf(names[i], sizeof names[i], "a name with a number %03d", i);
  unsigned long state = 88172645463325252ul;
  const double end = cpu_ns() + 1e6 * atof(arguments[2]), begin = cpu_ns();
  long operations = 0, wrong = 0;
  double now = begin;
  for (; now < end; now = cpu_ns())
    for (int i = 0; i < PER_LOOK; ++i, ++operations)
      wrong += chosen->run(&state);
  long sum = 0;
  for (int i = 0; i < NAMES; ++i)
    sum += uses[i];
  for (int i = 0; i < COUNTERS; ++i)
    sum += counters[i];
  if (chosen->run == sorted)
    wrong += sum != operations;
  if (chosen->run == reserve)
    wrong += sum != RESERVED * (operations - cancelled);
  printf("{\"operations\": %ld, \"cpu_ns\": %.2f}\n", operations,
         (now - begin) / (double)operations);
  return wrong != 0;
}
