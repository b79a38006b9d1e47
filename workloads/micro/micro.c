/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Eight micro-benchmarks of short critical sections, and five that measure what the parts of a
 * section cost. One source for every way to write a section (section.h).
 *
 *     micro BENCHMARK THREADS MILLISECONDS
 *     micro --input BENCHMARK --threads N --size SIZE --seed N
 *
 * Prints one JSON object: operations of all threads, seconds of wall time, CPU nanoseconds per
 * operation. Checks at the end that no operation was lost and that the structure is sound; status 1
 * if not. THREADS 0: one thread works while a second one lives, idle. The second form does a number
 * of operations instead, shared among the threads, and prints what the STAMP-class suite does.
 */
#include "section.h"
#include "structures.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(MICRO_MUTEX)
pthread_mutex_t micro_mutex = PTHREAD_MUTEX_INITIALIZER;
#elif defined(MICRO_NOREC_BY_HAND)
NOREC_DEFINE
#endif

enum {
  MOST_THREADS = 64,
  ARRAY_SIZE = 1 << 16,
  ARRAY_READS = 10,
  HASH_KEYS = 4096,
  TREE_KEYS = 2048,
  LARGE_KEYS = 1000000,
  LARGE_WRITES = 200,
  LIST_KEYS = 128,
  ACCESSES = 64 /* in a section of read, write and update */
};

struct worker {
  _Alignas(128) long counter; /* of disjoint */
  uint64_t random;
  long operations;
  long wanted;   /* operations; 0: until `stop` */
  long inserted; /* minus erased */
  long own[ACCESSES];
  pthread_t thread;
};

static struct worker workers[MOST_THREADS];
static _Alignas(128) long counter;
static _Alignas(128) long array[ARRAY_SIZE];
static struct hash hash;
static struct tree tree;
static struct list list;
static struct tree large;
static _Alignas(128) long values[LARGE_KEYS]; /* of the large tree's keys */
static long initially;
static _Alignas(128) atomic_int stop;

/* xorshift64 */
static uint64_t next_random(struct worker *worker) {
  uint64_t x = worker->random;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  worker->random = x;
  return x;
}

static void do_counter(struct worker *worker) {
  (void)worker;
  SECTION
  ADD(counter, 1);
  SECTION_END
}

static void do_disjoint(struct worker *worker) {
  SECTION
  ADD(worker->counter, 1);
  SECTION_END
}

static void do_array(struct worker *worker) {
  uint64_t places[ARRAY_READS];
  for (int i = 0; i < ARRAY_READS; ++i)
    places[i] = next_random(worker) % ARRAY_SIZE;
  SECTION
  long sum = 0;
  for (int i = 0; i < ARRAY_READS; ++i)
    sum += READ(array[places[i]]);
  /* One more than it was; the sum keeps the other reads alive. */
  ADD(array[places[0]], sum >= 0 ? 1 : 2);
  SECTION_END
}

/* One operation on a set: `updates` percent change it, half of them insertions. */
#define SET_OPERATION(NAME, SET, KEYS)                                                             \
  static void do_##NAME(struct worker *worker, unsigned updates) {                                 \
    uint64_t random = next_random(worker);                                                         \
    long key = (long)((random >> 32) % (KEYS));                                                    \
    unsigned kind = (unsigned)(random % 200);                                                      \
    int changed = 0;                                                                               \
    if (kind >= 2 * updates) {                                                                     \
      SECTION                                                                                      \
      changed = NAME##_contains(&(SET), key);                                                      \
      SECTION_END                                                                                  \
      return;                                                                                      \
    }                                                                                              \
    if (kind % 2 == 0) {                                                                           \
      SECTION                                                                                      \
      changed = NAME##_insert(&(SET), key);                                                        \
      SECTION_END                                                                                  \
      worker->inserted += changed;                                                                 \
    } else {                                                                                       \
      SECTION                                                                                      \
      changed = NAME##_erase(&(SET), key);                                                         \
      SECTION_END                                                                                  \
      worker->inserted -= changed;                                                                 \
    }                                                                                              \
  }

SET_OPERATION(hash, hash, HASH_KEYS)
SET_OPERATION(tree, tree, TREE_KEYS)
SET_OPERATION(list, list, LIST_KEYS)

/* More than a processor's transactions hold: many keys looked up in a large tree, each with a
 * write. */
static void do_large(struct worker *worker) {
  uint64_t keys[LARGE_WRITES];
  for (int i = 0; i < LARGE_WRITES; ++i)
    keys[i] = (next_random(worker) >> 20) % LARGE_KEYS;
  SECTION
  for (int i = 0; i < LARGE_WRITES; ++i)
    if (tree_contains(&large, (long)keys[i]))
      ADD(values[keys[i]], 1);
  SECTION_END
}

static void do_hash_20(struct worker *worker) { do_hash(worker, 20); }
static void do_tree_0(struct worker *worker) { do_tree(worker, 0); }
static void do_tree_10(struct worker *worker) { do_tree(worker, 10); }
static void do_tree_50(struct worker *worker) { do_tree(worker, 50); }
static void do_list_20(struct worker *worker) { do_list(worker, 20); }

/* A section of nothing, of one write, and of ACCESSES accesses to the thread's own memory. The
 * barrier after the section keeps the compiler from moving accesses out of it. */
#define COMPILER_BARRIER() __asm__ volatile("" ::: "memory")

static void do_empty(struct worker *worker) {
  (void)worker;
  EMPTY_SECTION
  COMPILER_BARRIER();
}

/* One write. */
static void do_single(struct worker *worker) {
  long value = worker->operations;
  SECTION
  WRITE(worker->counter, value);
  SECTION_END
  COMPILER_BARRIER();
}

static void do_read(struct worker *worker) {
  long sum = 0;
  SECTION
  for (int i = 0; i < ACCESSES; ++i)
    sum += READ(worker->own[i]);
  SECTION_END
  __asm__ volatile("" ::"r"(sum) : "memory");
}

static void do_write(struct worker *worker) {
  long value = worker->operations;
  SECTION
  for (int i = 0; i < ACCESSES; ++i)
    WRITE(worker->own[i], value);
  SECTION_END
  COMPILER_BARRIER();
}

static void do_update(struct worker *worker) {
  SECTION
  for (int i = 0; i < ACCESSES; ++i)
    ADD(worker->own[i], 1);
  SECTION_END
  COMPILER_BARRIER();
}

static long total(long (*of)(const struct worker *)) {
  long sum = 0;
  for (int i = 0; i < MOST_THREADS; ++i)
    sum += of(&workers[i]);
  return sum;
}

static long operations_of(const struct worker *worker) { return worker->operations; }
static long counter_of(const struct worker *worker) { return worker->counter; }
static long inserted_of(const struct worker *worker) { return worker->inserted; }

static int check_nothing(void) { return 1; }
static int check_counter(void) { return counter == total(operations_of); }
static int check_disjoint(void) { return total(counter_of) == total(operations_of); }
static int check_array(void) {
  long sum = 0;
  for (int i = 0; i < ARRAY_SIZE; ++i)
    sum += array[i];
  return sum == total(operations_of);
}
static int check_hash(void) { return hash_check(&hash) == initially + total(inserted_of); }
static int check_tree(void) { return tree_check(&tree) == initially + total(inserted_of); }
static int check_large(void) {
  long sum = 0;
  for (int i = 0; i < LARGE_KEYS; ++i)
    sum += values[i];
  return sum == LARGE_KEYS + LARGE_WRITES * total(operations_of);
}
static int check_list(void) { return list_check(&list) == initially + total(inserted_of); }

/* Every second key. */
#define FILL(NAME, SET, KEYS)                                                                      \
  static void fill_##NAME(void) {                                                                  \
    for (long key = 0; key < (KEYS); key += 2) {                                                   \
      SOLO initially += NAME##_insert(&(SET), key * 7919 % (KEYS));                                \
      SOLO_END                                                                                     \
    }                                                                                              \
  }
FILL(hash, hash, HASH_KEYS)
FILL(tree, tree, TREE_KEYS)
FILL(list, list, LIST_KEYS)
static void fill_nothing(void) {}
static void fill_large(void) {
  for (long key = 0; key < LARGE_KEYS; ++key) {
    SOLO initially += tree_insert(&large, key * 7919 % LARGE_KEYS);
    SOLO_END
    values[key] = 1; /* so that its page is there */
  }
}

struct benchmark {
  const char *name;
  void (*operation)(struct worker *);
  void (*fill)(void);
  int (*check)(void);
};

static const struct benchmark benchmarks[] = {
    {"counter", do_counter, fill_nothing, check_counter},
    {"disjoint", do_disjoint, fill_nothing, check_disjoint},
    {"array", do_array, fill_nothing, check_array},
    {"hash-20", do_hash_20, fill_hash, check_hash},
    {"tree-0", do_tree_0, fill_tree, check_tree},
    {"tree-10", do_tree_10, fill_tree, check_tree},
    {"tree-50", do_tree_50, fill_tree, check_tree},
    {"list-20", do_list_20, fill_list, check_list},
    {"large", do_large, fill_large, check_large},
    {"empty", do_empty, fill_nothing, check_nothing},
    {"single", do_single, fill_nothing, check_nothing},
    {"read", do_read, fill_nothing, check_nothing},
    {"write", do_write, fill_nothing, check_nothing},
    {"update", do_update, fill_nothing, check_nothing},
};

static const struct benchmark *chosen;
static uint64_t seed; /* of the threads' random numbers */

static void *work(void *argument) {
  struct worker *worker = argument;
  THREAD_START;
  while (worker->operations < worker->wanted) {
    chosen->operation(worker);
    ++worker->operations;
  }
  if (worker->wanted != 0)
    return NULL;
  while (!atomic_load_explicit(&stop, memory_order_relaxed))
    for (int i = 0; i < 64; ++i) {
      chosen->operation(worker);
      ++worker->operations;
    }
  return NULL;
}

static void *live(void *argument) {
  while (!atomic_load_explicit(&stop, memory_order_relaxed))
    nanosleep(&(struct timespec){0, 1000000}, NULL);
  return argument;
}

static double seconds(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int usage(void) {
  fprintf(stderr, "usage: micro BENCHMARK THREADS MILLISECONDS, or micro --input BENCHMARK "
                  "--threads N --size test|small|medium|large --seed N; the benchmarks are");
  for (size_t i = 0; i < sizeof benchmarks / sizeof *benchmarks; ++i)
    fprintf(stderr, "%s %s", i == 0 ? "" : ",", benchmarks[i].name);
  fprintf(stderr, "\n");
  return 2;
}

static void start(struct worker *worker, void *(*function)(void *)) {
  worker->random = 0x9e3779b97f4a7c15U * (seed * MOST_THREADS + (uint64_t)(worker - workers + 1));
  if (pthread_create(&worker->thread, NULL, function, worker) != 0) {
    fprintf(stderr, "micro: cannot create a thread\n");
    exit(1);
  }
}

static const struct benchmark *benchmark_of(const char *name) {
  for (size_t i = 0; i < sizeof benchmarks / sizeof *benchmarks; ++i)
    if (strcmp(name, benchmarks[i].name) == 0)
      return &benchmarks[i];
  return NULL;
}

static int checked(void) {
  if (chosen->check())
    return 0;
  fprintf(stderr, "micro: %s: an operation was lost, or the structure is broken\n", chosen->name);
  return 1;
}

/* On the simulated machine `test` takes seconds, else `small` does for short sections. */
static long operations_of_size(const char *size) {
  static const struct {
    const char *name;
    long operations;
  } sizes[] = {{"test", 4000}, {"small", 4000000}, {"medium", 20000000}, {"large", 80000000}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
    if (strcmp(size, sizes[i].name) == 0)
      return sizes[i].operations;
  return 0;
}

/* The second form. */
static int run_suite(int argc, char **argv) {
  long threads = 1;
  long operations = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--input") == 0)
      chosen = benchmark_of(argv[i + 1]);
    else if (strcmp(argv[i], "--threads") == 0)
      threads = atol(argv[i + 1]);
    else if (strcmp(argv[i], "--size") == 0)
      operations = operations_of_size(argv[i + 1]);
    else if (strcmp(argv[i], "--seed") == 0)
      seed = strtoull(argv[i + 1], NULL, 10);
    else
      return usage();
  }
  if (argc % 2 == 0 || chosen == NULL || threads < 1 || threads > MOST_THREADS || operations == 0)
    return usage();
  THREAD_START;
  chosen->fill();
  for (long i = 0; i < threads; ++i)
    workers[i].wanted = operations / threads + (i < operations % threads);
  double wall = seconds(CLOCK_MONOTONIC);
  double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  for (long i = 0; i < threads; ++i)
    start(&workers[i], work);
  for (long i = 0; i < threads; ++i)
    pthread_join(workers[i].thread, NULL);
  printf("{\"application\": \"micro\", \"input\": \"%s\", \"variant\": \"%s\", \"threads\": %ld, "
         "\"seed\": %llu, \"seconds\": %.9f, \"cpu_seconds\": %.9f, \"sections\": %ld}\n",
         chosen->name, MICRO_VARIANT, threads, (unsigned long long)seed,
         seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
         total(operations_of));
  return checked();
}

int main(int argc, char **argv) {
  if (argc > 1 && strncmp(argv[1], "--", 2) == 0)
    return run_suite(argc, argv);
  if (argc != 4)
    return usage();
  chosen = benchmark_of(argv[1]);
  int threads = atoi(argv[2]);
  long milliseconds = atol(argv[3]);
  if (chosen == NULL || threads < 0 || threads > MOST_THREADS || milliseconds <= 0)
    return usage();
  THREAD_START;
  chosen->fill();
  double wall = seconds(CLOCK_MONOTONIC);
  double cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  int started = threads == 0 ? 2 : threads;
  for (int i = 0; i < started; ++i)
    start(&workers[i], threads == 0 && i == 1 ? live : work);
  nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000}, NULL);
  atomic_store(&stop, 1);
  for (int i = 0; i < started; ++i)
    pthread_join(workers[i].thread, NULL);
  wall = seconds(CLOCK_MONOTONIC) - wall;
  cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  long operations = total(operations_of);
  printf("{\"benchmark\": \"%s\", \"variant\": \"%s\", \"threads\": %d, \"operations\": %ld, "
         "\"seconds\": %.6f, ",
         chosen->name, MICRO_VARIANT, threads, operations, wall);
  if (operations == 0) /* it was too short */
    printf("\"cpu_ns\": null, \"wall_ns\": null}\n");
  else
    printf("\"cpu_ns\": %.3f, \"wall_ns\": %.3f}\n", cpu * 1e9 / (double)operations,
           wall * 1e9 / (double)operations);
  return checked();
}
