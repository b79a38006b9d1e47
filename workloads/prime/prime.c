// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prime (LockSTM, section 5.1 and Appendix A), completed: several threads test a list of random
// numbers, and one more thread prints the count of primes so far. README.md says what differs from
// the paper.
//
// PRIME_SEQUENTIAL: no threads and no sections, for any C compiler; the baseline of Figure 6.
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(PRIME_SEQUENTIAL)
#define ATOMIC
#elif defined(__TANDEM__)
#define ATOMIC __attribute__((atomic))
#else
#error "compile with tandem-cc, or with -DPRIME_SEQUENTIAL for the variant without threads"
#endif

enum { kWrongResult = 1, kUsage = 2 };

struct options {
  int threads;
  int numbers;
  uint64_t seed;
  int interval_ms;
  const char *json; // NULL: none; "-": standard output
};

// What the threads share: the list, which nobody writes while they run, and the count.
int *data;
int primeCount;

// The smallest factor of p above 1, or 0 where p has none but itself.
int isprime(int p) {
  if (p <= 3)
    return 0;
  if (p % 2 == 0)
    return 2;
  for (int i = 3; i <= p / i; i += 2) // i * i <= p, without its overflow near INT_MAX
    if (p % i == 0)
      return i;
  return 0;
}

// Tests the number and counts it where it is prime. The test is inside, as in the paper.
ATOMIC void findFactor(int number) {
  if (isprime(number) == 0)
    ++primeCount;
}

ATOMIC void printPrimeCount(void) { printf("PrimeCount: %7d\n", primeCount); }

#ifdef PRIME_SEQUENTIAL

static int count_primes(const struct options *options) {
  for (int i = 0; i < options->numbers; ++i)
    findFactor(data[i]);
  return 0; // status reports
}

#else

// What a thread tests: data[begin] to data[end - 1].
struct part {
  pthread_t thread;
  int begin;
  int end;
};

struct status {
  pthread_t thread;
  sem_t stop;
  int interval_ms;
  int reports; // read after the thread has been joined
};

static void start(pthread_t *thread, void *(*run)(void *), void *argument) {
  const int error = pthread_create(thread, NULL, run, argument);
  if (error != 0) {
    fprintf(stderr, "prime: a thread cannot be created: %s; use a smaller --threads\n",
            strerror(error));
    exit(kUsage);
  }
}

static void *test_part(void *argument) {
  const struct part *part = argument;
  for (int i = part->begin; i < part->end; ++i)
    findFactor(data[i]);
  return NULL;
}

// Prints the count every interval until it is told to stop.
static void *report_status(void *argument) {
  struct status *status = argument;
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (;;) {
    next.tv_sec += status->interval_ms / 1000;
    next.tv_nsec += status->interval_ms % 1000 * 1000000L;
    if (next.tv_nsec >= 1000000000L) {
      next.tv_nsec -= 1000000000L;
      ++next.tv_sec;
    }
    int result;
    while ((result = sem_clockwait(&status->stop, CLOCK_MONOTONIC, &next)) != 0 && errno == EINTR)
      ;
    if (result == 0)
      return NULL;
    printPrimeCount();
    ++status->reports;
  }
}

static int count_primes(const struct options *options) {
  struct status status = {.interval_ms = options->interval_ms};
  struct part *parts = calloc((size_t)options->threads, sizeof *parts);
  if (parts == NULL || sem_init(&status.stop, 0, 0) != 0) {
    fprintf(stderr, "prime: no memory for %d threads; use a smaller --threads\n", options->threads);
    exit(kUsage);
  }
  start(&status.thread, report_status, &status);
  for (int i = 0; i < options->threads; ++i) {
    // 64 bits: the product exceeds an int. The parts differ by one number at most.
    parts[i].begin = (int)((int64_t)options->numbers * i / options->threads);
    parts[i].end = (int)((int64_t)options->numbers * (i + 1) / options->threads);
    start(&parts[i].thread, test_part, &parts[i]);
  }
  for (int i = 0; i < options->threads; ++i)
    pthread_join(parts[i].thread, NULL);
  sem_post(&status.stop);
  pthread_join(status.thread, NULL);
  sem_destroy(&status.stop);
  free(parts);
  return status.reports;
}

#endif

// splitmix64: the same numbers from the same seed on every machine.
static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static uint64_t power_modulo(uint64_t base, uint64_t exponent, uint64_t modulus) {
  uint64_t result = 1;
  for (base %= modulus; exponent != 0; exponent >>= 1) {
    if (exponent & 1)
      result = result * base % modulus;
    base = base * base % modulus;
  }
  return result;
}

// Miller-Rabin with the bases 2, 3, 5 and 7, which is exact below 3215031751: another method than
// isprime's, to check its count.
static bool is_prime_checked(uint32_t n) {
  static const uint32_t bases[] = {2, 3, 5, 7};
  if (n < 2)
    return false;
  for (size_t i = 0; i < sizeof bases / sizeof *bases; ++i)
    if (n % bases[i] == 0)
      return n == bases[i];
  uint32_t odd = n - 1;
  int twos = 0;
  for (; odd % 2 == 0; odd /= 2)
    ++twos;
  for (size_t i = 0; i < sizeof bases / sizeof *bases; ++i) {
    uint64_t x = power_modulo(bases[i], odd, n);
    bool passes = x == 1 || x == n - 1;
    for (int round = 1; round < twos && !passes; ++round) {
      x = x * x % n;
      passes = x == n - 1;
    }
    if (!passes)
      return false;
  }
  return true;
}

static long long parse_number(const char *option, const char *text, long long low, long long high) {
  char *end;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || value < low || value > high) {
    fprintf(stderr, "prime: --%s: '%s' is not a number from %lld to %lld\n", option, text, low,
            high);
    exit(kUsage);
  }
  return value;
}

static void print_usage(void) {
  puts("usage: prime [options]\n"
       "Counts the primes in a list of random numbers with several threads.\n\n"
       "  --threads N    threads that test numbers (1)\n"
       "  --numbers N    length of the list (100000)\n"
       "  --seed N       of the random numbers (1)\n"
       "  --interval MS  milliseconds between two status lines (1000)\n"
       "  --json FILE    write the result as JSON; '-': standard output, with the other lines\n"
       "                 on standard error\n"
       "  --help         this text");
}

static struct options parse_options(int argc, char **argv) {
  static const struct option known[] = {{"threads", required_argument, NULL, 't'},
                                        {"numbers", required_argument, NULL, 'n'},
                                        {"seed", required_argument, NULL, 's'},
                                        {"interval", required_argument, NULL, 'i'},
                                        {"json", required_argument, NULL, 'j'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  struct options options = {.threads = 1, .numbers = 100000, .seed = 1, .interval_ms = 1000};
  int option;
  while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
    switch (option) {
    case 't':
      options.threads = (int)parse_number("threads", optarg, 1, 1024);
      break;
    case 'n':
      options.numbers = (int)parse_number("numbers", optarg, 1, INT_MAX / (int)sizeof(int));
      break;
    case 's':
      options.seed = (uint64_t)parse_number("seed", optarg, 0, LLONG_MAX);
      break;
    case 'i':
      options.interval_ms = (int)parse_number("interval", optarg, 1, INT_MAX);
      break;
    case 'j':
      options.json = optarg;
      break;
    case 'h':
      print_usage();
      exit(0);
    default: // getopt has said what is wrong
      exit(kUsage);
    }
  }
  if (optind != argc) {
    fprintf(stderr, "prime: unexpected argument '%s'; see --help\n", argv[optind]);
    exit(kUsage);
  }
#ifdef PRIME_SEQUENTIAL
  if (options.threads != 1) {
    fprintf(stderr, "prime: --threads: the sequential variant has one thread, not %d\n",
            options.threads);
    exit(kUsage);
  }
#endif
  return options;
}

// Where the JSON goes. A regular file appears under its name only when it is complete.
struct output {
  FILE *file;
  char *part; // the name until then; NULL: written in place
};

static struct output open_output(const char *path) {
  struct output output = {NULL, NULL};
  if (path == NULL)
    return output;
  struct stat status;
  if (strcmp(path, "-") == 0) {
    // The paper's printf stays what it is; its lines go to standard error.
    const int json = dup(STDOUT_FILENO);
    if (json >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
      output.file = fdopen(json, "w");
  } else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
    output.file = fopen(path, "w");
  } else if (asprintf(&output.part, "%s.%d.part", path, (int)getpid()) > 0) {
    output.file = fopen(output.part, "w");
  }
  if (output.file == NULL) {
    fprintf(stderr, "prime: %s: cannot be written: %s\n", path, strerror(errno));
    exit(kUsage);
  }
  return output;
}

static void close_output(struct output output, const struct options *options, double seconds,
                         int status_reports) {
  if (output.file == NULL)
    return;
  fprintf(output.file,
          "{\"seconds\": %.9f, \"primes\": %d, \"threads\": %d, \"numbers\": %d, \"seed\": %llu, "
          "\"status_reports\": %d}\n",
          seconds, primeCount, options->threads, options->numbers,
          (unsigned long long)options->seed, status_reports);
  if (fclose(output.file) != 0 ||
      (output.part != NULL && rename(output.part, options->json) != 0)) {
    fprintf(stderr, "prime: %s: cannot be written: %s\n", options->json, strerror(errno));
    if (output.part != NULL)
      unlink(output.part);
    exit(kUsage);
  }
  free(output.part);
}

int main(int argc, char **argv) {
  const struct options options = parse_options(argc, argv);
  data = malloc((size_t)options.numbers * sizeof *data);
  if (data == NULL) {
    fprintf(stderr, "prime: no memory for %d numbers; use a smaller --numbers\n", options.numbers);
    return kUsage;
  }
  const struct output output = open_output(options.json);
  setvbuf(stdout, NULL, _IOLBF, 0);

  int expected = 0;
  uint64_t random = options.seed;
  for (int i = 0; i < options.numbers; ++i) {
    data[i] = 2 + (int)(next_random(&random) % (INT_MAX - 1)); // 2 to INT_MAX
    expected += is_prime_checked((uint32_t)data[i]);
  }
  primeCount = 0;

  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  const int status_reports = count_primes(&options);
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double seconds =
      (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;

  printf("Done ");
  printPrimeCount();
  free(data);
  if (primeCount != expected) {
    fprintf(stderr, "prime: counted %d primes, but the list has %d\n", primeCount, expected);
    if (output.part != NULL)
      unlink(output.part);
    return kWrongResult;
  }
  close_output(output, &options, seconds, status_reports);
  return 0;
}
