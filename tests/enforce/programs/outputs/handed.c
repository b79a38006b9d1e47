/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program that hands a function to a library, whose section calls it (caller.c); the function is
 * in no section of the program, which has sections on the same data.
 *
 *     handed ROUNDS [ANYTHING]
 *
 * Two threads change `sum` in the library's section, one in the program's own; the program's own
 * section looks at two counts that the handed function changes one after the other. Status 1 where
 * a change is lost or half of one is seen.
 */
#include "interleave.h"
#include <tandem/tandem.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

void call_it(void (*function)(long), long argument);

static long sum, first, second, seen, own;
static long rounds;

static void handed(long by) {
  const long before = sum;
  interleave();
  sum = before + by;
}

static void counted(long by) {
  __atomic_fetch_add(&first, by, __ATOMIC_SEQ_CST);
  interleave();
  __atomic_fetch_add(&second, by, __ATOMIC_SEQ_CST);
}

TANDEM_ATOMIC static void change(void) {
  const long before = sum;
  interleave();
  sum = before + 1;
}

TANDEM_ATOMIC static long difference(void) {
  const long one = second;
  interleave();
  return first - one;
}

/* A section with a call by pointer to functions of that type: their clones are found by address. */
static void add(long by) { own += by; }
static void subtract(long by) { own -= by; }
static void (*chosen)(long);
TANDEM_ATOMIC static void call_own(void) { chosen(1); }

static void *from_outside(void *unused) {
  for (long i = 0; i < rounds; ++i) {
    call_it(handed, 1);
    call_it(counted, 1);
  }
  return unused;
}

static void *from_inside(void *unused) {
  for (long i = 0; i < rounds; ++i) {
    change();
    call_own();
    seen += difference() != 0;
  }
  return unused;
}

int main(int count, char **arguments) {
  rounds = count > 1 ? atol(arguments[1]) : 100;
  chosen = count > 2 ? add : subtract;
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i)
    pthread_create(&threads[i], NULL, i < 2 ? from_outside : from_inside, NULL);
  for (int i = 0; i < 3; ++i)
    pthread_join(threads[i], NULL);
  printf("sum %ld of %ld, %ld halves seen\n", sum, 3 * rounds, seen);
  return sum != 3 * rounds || seen != 0;
}
