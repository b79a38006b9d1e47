/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *     APPLICATION [--input NAME] [--size NAME] [--threads N] [--seed N] [--json FILE]
 *
 * Exit status: 0; 1 where the result is wrong; 2 for the user's mistake. The report is one JSON
 * object: on standard output, or in FILE.
 */
#include "lib/harness.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const sizes[STAMP_SIZES] = {"test", "small", "medium", "large"};

enum { MOST_NUMBERS = 16 };
struct number {
  const char *name;
  double value;
};

struct options {
  enum stamp_size size;
  unsigned input;
  unsigned threads;
  uint64_t seed;
  const char *json; /* null or "-": standard output */
};

/* Seconds of the region: wall time, and processor time of the process. */
struct times {
  double wall, processor;
};

static struct options options = {.size = STAMP_SMALL, .threads = 1, .seed = 1};
static struct stamp_thread threads[STAMP_MOST_THREADS];
static pthread_barrier_t barrier;
static struct number numbers[MOST_NUMBERS];
static unsigned number_count;
static uint64_t checksum;

#if defined(STAMP_MUTEX)
struct stamp_lock stamp_lock = {PTHREAD_MUTEX_INITIALIZER};
#endif

unsigned stamp_threads(void) { return options.threads; }

void stamp_barrier(void) {
  if (options.threads > 1)
    pthread_barrier_wait(&barrier);
}

struct stamp_range stamp_part(const struct stamp_thread *self, uint64_t count) {
  const uint64_t all = options.threads;
  return (struct stamp_range){count * self->index / all, count * (self->index + 1) / all};
}

bool stamp_wrong(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: wrong result: ", stamp_application.name);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  return false;
}

void stamp_report(const char *name, double value) {
  if (number_count == MOST_NUMBERS)
    abort();
  numbers[number_count++] = (struct number){name, value};
}

void stamp_checksum(uint64_t part) { checksum += random_mix(part + 0x9e3779b97f4a7c15u); }

/* One line, and status 2. */
__attribute__((noreturn, format(printf, 1, 2))) static void mistake(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "%s: ", stamp_application.name);
  vfprintf(stderr, format, arguments);
  fputs("; see --help\n", stderr);
  va_end(arguments);
  exit(2);
}

/* The position of `name` in a list of `count` names. */
static unsigned choose(const char *option, const char *name, const char *const *names,
                       unsigned count) {
  for (unsigned i = 0; i < count; i++)
    if (strcmp(name, names[i]) == 0)
      return i;
  char all[256] = "";
  for (unsigned i = 0; i < count; i++)
    snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", names[i]);
  mistake("%s %s: not known; there are %s", option, name, all);
}

static uint64_t parse_number(const char *option, const char *text, uint64_t least, uint64_t most) {
  char *end = NULL;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < least || value > most)
    mistake("%s %s: not a number from %llu to %llu", option, text, (unsigned long long)least,
            (unsigned long long)most);
  return value;
}

static unsigned input_count(void) {
  unsigned count = 0;
  while (stamp_application.inputs != NULL && stamp_application.inputs[count] != NULL)
    count++;
  return count;
}

static void print_help(void) {
  printf("%s: %s\n\nusage: %s [OPTIONS]\n", stamp_application.name, stamp_application.summary,
         stamp_application.name);
  for (unsigned i = 0; i < input_count(); i++)
    printf(i ? " | %s" : "  --input  %s", stamp_application.inputs[i]);
  if (input_count() != 0)
    printf(" [%s]\n", stamp_application.inputs[0]);
  printf("  --size   test | small | medium | large [small]\n"
         "  --threads  1 to %d [1]\n"
         "  --seed   of the input [1]\n"
         "  --json   the file that the report goes to [standard output]\n",
         STAMP_MOST_THREADS);
}

static void set_option(const char *option, const char *value) {
  if (strcmp(option, "--size") == 0)
    options.size = (enum stamp_size)choose(option, value, sizes, STAMP_SIZES);
  else if (strcmp(option, "--threads") == 0)
    options.threads = (unsigned)parse_number(option, value, 1, STAMP_MOST_THREADS);
  else if (strcmp(option, "--seed") == 0)
    options.seed = parse_number(option, value, 0, UINT64_MAX - 1);
  else if (strcmp(option, "--json") == 0)
    options.json = value;
  else if (strcmp(option, "--input") == 0 && input_count() != 0)
    options.input = choose(option, value, stamp_application.inputs, input_count());
  else
    mistake("%s: not an option", option);
}

static void parse(int count, char **words) {
  for (int i = 1; i < count; i += 2) {
    if (strcmp(words[i], "--help") == 0) {
      print_help();
      exit(0);
    }
    if (i + 1 == count)
      mistake("%s: its value is missing, or it is not an option", words[i]);
    set_option(words[i], words[i + 1]);
  }
#if defined(STAMP_SEQUENTIAL) || defined(STAMP_TIMES)
  if (options.threads != 1)
    mistake("--threads %u: this build is sequential; give 1", options.threads);
#endif
}

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void *run_thread(void *argument) {
  struct stamp_thread *self = argument;
  stamp_barrier();
  stamp_application.run(self);
  stamp_barrier();
  return NULL;
}

/* Runs all threads; the calling one is thread 0, the only one where there are no others. */
static struct times run_all(void) {
  pthread_t handles[STAMP_MOST_THREADS];
  if (options.threads > 1 && pthread_barrier_init(&barrier, NULL, options.threads) != 0)
    mistake("the barrier cannot be made");
  for (unsigned i = 0; i < options.threads; i++)
    threads[i] = (struct stamp_thread){.index = i, .random = random_stream(options.seed, 1000 + i)};
  for (unsigned i = 1; i < options.threads; i++)
    if (pthread_create(&handles[i], NULL, run_thread, &threads[i]) != 0)
      mistake("--threads %u: thread %u cannot be started", options.threads, i);
  stamp_barrier();
  if (stamp_measure_begin)
    stamp_measure_begin();
  struct times times = {seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_PROCESS_CPUTIME_ID)};
  stamp_application.run(&threads[0]);
  stamp_barrier();
  times.wall = seconds_of(CLOCK_MONOTONIC) - times.wall;
  times.processor = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - times.processor;
  if (stamp_measure_end)
    stamp_measure_end();
  for (unsigned i = 1; i < options.threads; i++)
    pthread_join(handles[i], NULL);
  return times;
}

static void print_report(FILE *file, const struct times *times) {
  uint64_t sections = 0;
  for (unsigned i = 0; i < options.threads; i++)
    sections += threads[i].sections;
  fprintf(file, "{\"version\": 1, \"application\": \"%s\", ", stamp_application.name);
  if (input_count() != 0)
    fprintf(file, "\"input\": \"%s\", ", stamp_application.inputs[options.input]);
  fprintf(file,
          "\"variant\": \"" STAMP_VARIANT "\", \"size\": \"%s\", \"threads\": %u, \"seed\": %llu, "
          "\"verified\": true, \"checksum\": \"%016llx\", \"seconds\": %.9f, "
          "\"cpu_seconds\": %.9f, \"sections\": %llu",
          sizes[options.size], options.threads, (unsigned long long)options.seed,
          (unsigned long long)checksum, times->wall, times->processor,
          (unsigned long long)sections);
  if (stamp_attempts) {
    const uint64_t attempts = stamp_attempts();
    fprintf(file, ", \"attempts\": %llu", (unsigned long long)attempts);
  }
  for (unsigned i = 0; i < number_count; i++)
    fprintf(file, ", \"%s\": %.17g", numbers[i].name, numbers[i].value);
  if (stamp_measures) {
    const struct stamp_measures measures = stamp_measures();
    for (unsigned i = 0; i < measures.count; i++)
      fprintf(file, "%s\"%s\": %.17g", i ? ", " : ", \"measures\": {", measures.names[i],
              measures.values[i]);
    fputc('}', file);
  }
  fputs("}\n", file);
}

/* Whole or not at all: through a file beside it. */
static void write_report(const struct times *times) {
  if (options.json == NULL || strcmp(options.json, "-") == 0) {
    print_report(stdout, times);
    if (fflush(stdout) != 0)
      mistake("standard output: %s", strerror(errno));
    return;
  }
  char partial[4096];
  if (snprintf(partial, sizeof partial, "%s.partial", options.json) >= (int)sizeof partial)
    mistake("--json: the name is too long");
  FILE *file = fopen(partial, "w");
  if (file == NULL)
    mistake("--json %s: cannot be written: %s", options.json, strerror(errno));
  print_report(file, times);
  if (fclose(file) != 0 || rename(partial, options.json) != 0) {
    remove(partial);
    mistake("--json %s: cannot be written: %s", options.json, strerror(errno));
  }
}

int main(int count, char **words) {
  parse(count, words);
  stamp_application.prepare(options.size, options.input, options.seed);
  const struct times times = run_all();
  if (!stamp_application.verify())
    return 1;
  write_report(&times);
  return 0;
}
