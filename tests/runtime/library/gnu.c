// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// gcc -fgnu-tm calls the transactional versions of functions that are declared transaction_safe. To
// gcc that is another type than the headers', so they are not included.
#include <pthread.h>
#include <tandem/library.h>
#include <tandem/transaction.h>

#define SAFE __attribute__((transaction_safe))
SAFE size_t strlen(const char *);
SAFE int strcmp(const char *, const char *);
SAFE char *strcpy(char *, const char *);
SAFE long strtol(const char *, char **, int);
SAFE int snprintf(char *, size_t, const char *, ...);
SAFE void *realloc(void *, size_t);
void *malloc(size_t);
void free(void *);
int printf(const char *, ...);

static char text[64] = "41";
static char other[64];
static unsigned long wrong;

// A wrapped function: the plain one is what gcc has no clone of.
static int plain(int value) { return value + 1; }
static int transactional(int value) { return value + 2; }
TANDEM_WRAP(plain, transactional);

typedef int (*Safe)(int) SAFE;
Safe by_pointer = (Safe)plain; // any function, as far as the compiler knows

static int uninstrumented; /* such code runs, too */

static void *work(void *argument) {
  for (int i = 0; i < 500; ++i) {
    __transaction_atomic {
      strcpy(other, text);
      if (strlen(other) != 2 || strcmp(other, text) != 0)
        ++wrong;
      if (snprintf(other, sizeof other, "%ld", strtol(text, 0, 10) + 1) != 2 ||
          strcmp(other, "42") != 0)
        ++wrong;
      char *memory = malloc(10);
      strcpy(memory, text);
      memory = realloc(memory, 5000);
      if (strcmp(memory, "41") != 0)
        ++wrong;
      free(memory);
    }
    int result;
    __transaction_atomic { result = by_pointer(1); }
    if ((result != 3 && !(uninstrumented && result == 2)) || by_pointer(1) != 2)
      __transaction_atomic { ++wrong; }
  }
  return argument;
}

int main(int count, char **arguments) {
  uninstrumented = count > 1 && arguments[1][0] == 'u';
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], 0);
  struct tandem_statistics statistics;
  tandem_get_statistics(&statistics);
  printf("wrong %lu serialised %d\n", wrong, (int)statistics.serialisations);
  return 0;
}
