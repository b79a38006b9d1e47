/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The transactional string functions for gcc's libitm against the C library's, on random short
 * strings of two letters. Status 0 where all agree; else the first that does not, and status 1.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Found by name: gcc links its own library, which has none of them. */
#define PURE __attribute__((transaction_pure))
static PURE int (*tm_memcmp)(const void *, const void *, size_t);
static PURE void *(*tm_memchr)(const void *, int, size_t);
static PURE size_t (*tm_strlen)(const char *);
static PURE char *(*tm_strchr)(const char *, int);
static PURE int (*tm_strcmp)(const char *, const char *);
static PURE int (*tm_strncmp)(const char *, const char *, size_t);
static PURE char *(*tm_strncpy)(char *, const char *, size_t);
static PURE char *(*tm_strncat)(char *, const char *, size_t);

static void *find(const char *name) {
  void *found = dlsym(RTLD_DEFAULT, name);
  if (!found) {
    printf("%s is missing\n", name);
    exit(1);
  }
  return found;
}

static void find_all(void) {
  tm_memcmp = find("_ZGTt6memcmp");
  tm_memchr = find("_ZGTt6memchr");
  tm_strlen = find("_ZGTt6strlen");
  tm_strchr = find("_ZGTt6strchr");
  tm_strcmp = find("_ZGTt6strcmp");
  tm_strncmp = find("_ZGTt7strncmp");
  tm_strncpy = find("_ZGTt7strncpy");
  tm_strncat = find("_ZGTt7strncat");
}

enum { ROOM = 40, ROUNDS = 20000 };

static int written; /* gcc drops transactions that touch nothing by themselves */

static int sign(int x) { return (x > 0) - (x < 0); }

static void fill(char *text) {
  const int length = rand() % (ROOM / 2);
  memset(text, 0, ROOM);
  for (int i = 0; i < length; i++)
    text[i] = rand() % 8 ? 'a' : '\xe9';
}

#define CHECK(condition)                                                                           \
  if (!(condition)) {                                                                              \
    printf("%s for '%s' '%s' %zu\n", #condition, a, b, n);                                         \
    return 1;                                                                                      \
  }

int main(int count, char **words) {
  find_all();
  srand(count > 1 ? (unsigned)atoi(words[1]) : 1);
  static char a[ROOM], b[ROOM], expected[2 * ROOM], got[2 * ROOM];
  for (int round = 0; round < ROUNDS; round++) {
    fill(a), fill(b);
    const size_t n = (size_t)rand() % (ROOM / 2);
    int compared[3];
    void *found;
    char *at;
    size_t length;
    memset(expected, 'x', sizeof expected), memset(got, 'x', sizeof got);
    strcpy(expected, b), strcpy(got, b);
    __transaction_atomic {
      written++;
      compared[0] = tm_memcmp(a, b, n);
      compared[1] = tm_strcmp(a, b);
      compared[2] = tm_strncmp(a, b, n);
      found = tm_memchr(a, '\xe9', n);
      at = tm_strchr(a, '\xe9');
      length = tm_strlen(a);
      tm_strncat(got, a, n);
      tm_strncpy(got + ROOM, a, n);
    }
    CHECK(sign(compared[0]) == sign(memcmp(a, b, n)));
    CHECK(sign(compared[1]) == sign(strcmp(a, b)));
    CHECK(sign(compared[2]) == sign(strncmp(a, b, n)));
    CHECK(found == memchr(a, '\xe9', n));
    CHECK(at == strchr(a, '\xe9'));
    CHECK(length == strlen(a));
    strncat(expected, a, n), strncpy(expected + ROOM, a, n);
    CHECK(memcmp(expected, got, sizeof got) == 0);
  }
  return written == ROUNDS ? 0 : 1;
}
