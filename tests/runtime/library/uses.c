// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic functions that use the C library, in two threads: each call must give what the plain call
// gives, and no transaction may have been serialised.
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/time.h>
#include <tandem/tandem.h>
#include <tandem/transaction.h>
#include <time.h>

static char text[128] = "seven 7 words";
static char other[128];
static char *heap;
static long number;
static double real_number;
static int items[8];
static sem_t posted;
static time_t now;
static long wrong;
static const char *const names[] = {"adam", "beth", "carl"};

static int by_value(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int by_name(const void *key, const void *item) {
  return strcmp(key, *(const char *const *)item);
}

static void format(char *to, size_t bytes, const char *how, ...) {
  va_list list;
  va_start(list, how);
  vsnprintf(to, bytes, how, list);
  va_end(list);
}

#define EXPECT(CONDITION)                                                                          \
  do {                                                                                             \
    if (!(CONDITION))                                                                              \
      wrong += __LINE__;                                                                           \
  } while (0)

TANDEM_ATOMIC static void strings(void) {
  strcpy(other, text);
  EXPECT(strlen(other) == 13 && strnlen(other, 5) == 5);
  EXPECT(strcmp(other, text) == 0 && strncmp(other, "sex", 2) == 0);
  EXPECT(strcasecmp(other, "SEVEN 7 WORDS") == 0 && strncasecmp(other, "SEX", 2) == 0);
  EXPECT(memcmp(other, text, 14) == 0 && memchr(other, '7', 13) == other + 6);
  EXPECT(strchr(other, 'w') == other + 8 && strrchr(other, 'e') == other + 3);
  EXPECT(strstr(other, "7 w") == other + 6 && strspn(other, "sev") == 4);
  EXPECT(strcspn(other, "0123456789") == 6 && strpbrk(other, "7w") == other + 6);
  strncpy(other, "six", sizeof other);
  strcat(other, "teen");
  strncat(other, "th!", 2);
  EXPECT(strcmp(other, "sixteenth") == 0);
  memmove(other + 1, other, 9);
  memset(other, 'S', 1);
  EXPECT(memcmp(other, "Ssixteenth", 10) == 0);
  char *rest = NULL;
  strcpy(other, "a,b,,c");
  int tokens = 0;
  for (char *token = strtok_r(other, ",", &rest); token; token = strtok_r(NULL, ",", &rest))
    ++tokens;
  EXPECT(tokens == 3);
  strcpy(other, "a,b,,c");
  for (char *token = strtok(other, ","); token; token = strtok(NULL, ","))
    ++tokens;
  EXPECT(tokens == 6);
  EXPECT(strcoll(text, "seven 8") < 0 && strcoll(text, text) == 0);
  EXPECT(strxfrm(other, text, sizeof other) == 13 && strcmp(other, text) == 0);
  strcpy(other, strerror(ENOENT));
  EXPECT(strcmp(other, "No such file or directory") == 0);
  EXPECT(strcmp(strsignal(SIGTERM), "Terminated") == 0);
}

TANDEM_ATOMIC static void numbers(void) {
  char *end = NULL;
  number = strtol(text + 6, &end, 10);
  EXPECT(number == 7 && end == text + 7);
  strcpy(other, "18446744073709551616");
  errno = 0;
  EXPECT(strtoull(other, NULL, 10) == ~0ULL && errno == ERANGE);
  strcpy(other, "-2.5e3xyz");
  real_number = strtod(other, &end);
  EXPECT(real_number == -2500 && *end == 'x');
  EXPECT(atoi(text + 6) == 7 && strtoul("ff", NULL, 16) == 255 && atol("-3") == -3);
}

TANDEM_ATOMIC static void formats(void) {
  int length = snprintf(other, sizeof other, "%s|%5d|%.3s|%c|%g", text, 42, text, 'x', 1.5);
  EXPECT(length == 29 && strcmp(other, "seven 7 words|   42|sev|x|1.5") == 0);
  sprintf(other, "%ld", number);
  format(other + 20, 50, "<%s %d>", text, 3);
  EXPECT(strcmp(other + 20, "<seven 7 words 3>") == 0);
  int spaces = 0;
  for (const char *at = text; *at; ++at)
    spaces += isspace((unsigned char)*at) != 0;
  EXPECT(spaces == 2);
  assert(wrong >= 0);
}

TANDEM_ATOMIC static void memory(void) {
  heap = realloc(heap, 200);
  strcpy(heap, text);
  heap = realloc(heap, 2000);
  EXPECT(strcmp(heap, text) == 0);
  char *copy = strdup(heap);
  EXPECT(copy && strcmp(copy, text) == 0);
  free(copy);
  void *aligned = NULL;
  EXPECT(posix_memalign(&aligned, 64, 100) == 0);
  free(aligned);
  free(calloc(3, 5));
  free(aligned_alloc(64, 128));
}

TANDEM_ATOMIC static void sorting(void) {
  static const int unsorted[8] = {5, 3, 8, 1, 9, 2, 7, 0};
  memcpy(items, unsorted, sizeof items);
  qsort(items, 8, sizeof *items, by_value);
  int key = 9;
  EXPECT(items[0] == 0 && bsearch(&key, items, 8, sizeof *items, by_value) == items + 7);
  EXPECT(bsearch("beth", names, 3, sizeof *names, by_name) == names + 1);
}

TANDEM_ATOMIC static void wake(void) {
  struct timespec exact;
  struct timeval day;
  number = time(&now);
  EXPECT(number == now && clock_gettime(CLOCK_MONOTONIC, &exact) == 0);
  EXPECT(gettimeofday(&day, NULL) == 0 && day.tv_sec >= now);
  sem_post(&posted);
}

static void *work(void *argument) {
  (void)argument;
  for (int i = 0; i < 200; ++i) {
    strings();
    numbers();
    formats();
    memory();
    sorting();
    wake();
  }
  return NULL;
}

int main(void) {
  sem_init(&posted, 0, 0);
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  int posts = 0;
  sem_getvalue(&posted, &posts);
  struct tandem_statistics statistics;
  tandem_get_statistics(&statistics);
  printf("wrong %ld posts %d serialised %d\n", wrong, posts,
         statistics.attempts >= 2400 ? (int)statistics.serialisations : -1);
  return 0;
}
