// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// clang-format off
//
// Sections of every shape: how they are marked, how they are left, what they call.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tandem/tandem.h>

#include <pthread.h>

#define MARK TANDEM_ATOMIC
#define BLOCK tandem_atomic

struct pair {
  int first, second;
};

/* What the threads share. */
static int table[64];
static int used, sums, renamed, chosen, counted, output;
static char name[32];
static double level;
static struct pair pairs;

static int plain(int key) { return table[key % 64]; }

/* Left early, and called inside of another section. */
MARK static int find(int key) {
  for (int i = 0; i < used; ++i)
    if (table[i] == key)
      return i;
  return -1;
}

static void log_line(void) {
  tandem_atomic {
    ++output;
    fflush(stdout); // cannot be undone
  }
}

__attribute__((atomic, noinline)) static int add(int key) {
  if (find(key) >= 0)
    return 0;
  table[used++] = key;
  return 1;
}

TANDEM_ATOMIC static void rename_it(const char *to)
{
  strcpy(name, to); /* gcc refuses */
  ++renamed;
}

TANDEM_ATOMIC static int recursive(int n) { return n <= 0 ? plain(n) : recursive(n - 1) + 1; }

// Runs inside and outside of sections.
static void helper(int n) {
  BLOCK { sums += n; }
  if (n > 3)
    log_line();
}

TANDEM_ATOMIC static void outer(int n) {
  helper(n);
  level = floor(level) + sqrt((double)n * n);
}

__attribute__((atomic)) static int sum(int n, ...) {
  va_list list;
  va_start(list, n);
  int total = 0;
  for (int i = 0; i < n; ++i)
    total += va_arg(list, int);
  va_end(list);
  if (total > 100)
    return 0;
  sums += total;
  return sums++, total;
}

TANDEM_ATOMIC static struct pair both(void) { pairs.first++; pairs.second--; return pairs; }

static const char *label(void) __attribute__((atomic));
static const char *label(void) {
  chosen++;
  return "a { brace";
}

TANDEM_ATOMIC static int (*choose(int n))(int) { chosen += n; return n ? plain : 0; }

static int loops(int n) {
  int seen = 0;
  for (int i = 0; i < n; ++i) {
    tandem_atomic {
      counted += 1;
      if (i == 3)
        continue;
      if (i == 9)
        break;
      if (i == 20)
        goto out;
      if (i == 30)
        return seen;
      seen += table[i] < 0;
      tandem_atomic { counted += 1; }
    }
  }
  if (n == 77) tandem_atomic { counted = 1; } else
    ++seen;
  tandem_atomic
  {
    // its own line
    const char *text = "one \
{ string";
    counted += text[0] == 'o';
  }
out:
  return seen;
}

static int last(int n) {
  tandem_atomic {
    if (n > 1)
      return counted += 2;
    else
      return counted += 1;
  }
}

enum { kRounds = 200 };

static void *work(void *argument) {
  const int from = *(const int *)argument;
  for (int i = 0; i < kRounds; ++i) {
    add(1 + (from + i) % 40);
    if (i % 50 == 0) {
      log_line();
      rename_it(label());
      outer(5);
    }
    recursive(3);
    helper(2);
    sum(2, 3, 4);
    both();
    choose(1);
    loops(5 + i % 8);
    last(i % 3);
  }
  return NULL;
}

int main(void) {
  enum { kThreads = 8 };
  pthread_t threads[kThreads];
  int from[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    from[i] = i;
    if (pthread_create(&threads[i], NULL, work, &from[i]) != 0)
      return 1;
  }
  for (int i = 0; i < kThreads; ++i)
    pthread_join(threads[i], NULL);
  printf("%d %d %d %d %d %d %s %g %d %d\n", used, sums, renamed, chosen, counted, output, name,
         level, pairs.first, pairs.second);
  return 0;
}
