/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Nested transactions, cancelled inside and outside, on every kind of data. */
#include "check.h"

#include <string.h>

struct data {
  char c;
  short s;
  int i;
  long l;
  float f;
  double d;
  long array[100];
};
static struct data data;
static char *text;

__attribute__((transaction_safe, noinline)) static void change(struct data *d, int by) {
  d->c = (char)(d->c + by);
  d->s = (short)(d->s + by);
  d->i += by;
  d->l += by;
  d->f += (float)by;
  d->d += by;
  for (int i = 0; i < 100; ++i)
    d->array[i] += by * i;
}

static struct data changed(struct data d, int by) {
  change(&d, by);
  return d;
}

static int same(const struct data *a, const struct data *b) {
  return a->c == b->c && a->s == b->s && a->i == b->i && a->l == b->l && a->f == b->f &&
         a->d == b->d && memcmp(a->array, b->array, sizeof a->array) == 0;
}

static void cancel_outermost(void) {
  struct data before = data;
  int local = 5;
  __transaction_atomic {
    change(&data, 3);
    local = 6;
    if (data.i != 0)
      __transaction_cancel;
  }
  EXPECT(same(&data, &before));
  EXPECT(local == 5);
}

/* What the outer transaction wrote before and after stays; what the inner one wrote over it goes.
 */
static void cancel_inner(int times) {
  struct data expected = changed(changed(data, 1), 2);
  int reached = 0;
  __transaction_atomic {
    change(&data, 1);
    for (int n = 0; n < times; ++n)
      __transaction_atomic {
        change(&data, 10 + n);
        __transaction_atomic { change(&data, 100); }
        if (data.l != 0)
          __transaction_cancel;
        reached = 1;
      }
    change(&data, 2);
  }
  EXPECT(reached == 0);
  EXPECT(same(&data, &expected));
}

static void commit_inner(void) {
  struct data expected = changed(changed(changed(data, 1), 5), 2);
  __transaction_atomic {
    change(&data, 1);
    __transaction_atomic {
      change(&data, 5);
      if (data.l == 123456789)
        __transaction_cancel;
    }
    change(&data, 2);
  }
  EXPECT(same(&data, &expected));
}

static void cancel_inner_then_outer(void) {
  struct data before = data;
  __transaction_atomic {
    change(&data, 1);
    __transaction_atomic {
      change(&data, 7);
      if (data.l != 0)
        __transaction_cancel;
    }
    change(&data, 2);
    if (data.l != 0)
      __transaction_cancel;
  }
  EXPECT(same(&data, &before));
}

__attribute__((transaction_may_cancel_outer, noinline)) static void give_up(void) {
  change(&data, 11);
  __transaction_cancel [[outer]];
}

static void cancel_outer_from_below(void) {
  struct data before = data;
  __transaction_atomic [[outer]] {
    change(&data, 1);
    if (data.l != 0)
      give_up();
  }
  EXPECT(same(&data, &before));
}

static void memory(void) {
  for (int i = 0; i < 1000; ++i) {
    __transaction_atomic {
      text = malloc(100);
      for (int k = 0; k < 100; ++k)
        text[k] = (char)k;
      __transaction_atomic {
        char *other = malloc(50);
        other[0] = text[1];
        text = other;
        if (text[0] == 1)
          __transaction_cancel;
      }
    }
    EXPECT(text[99] == 99);
    __transaction_atomic {
      free(text);
      text = NULL;
      if (i % 2 == 0)
        __transaction_cancel;
    }
    if (i % 2 == 0) {
      EXPECT(text[42] == 42);
      free(text);
    }
    EXPECT(i % 2 == 0 || text == NULL);
  }
}

/* The addresses of these locals leave the function, so their accesses go through the runtime. */
__attribute__((transaction_safe, noinline)) static void add_to(long *where, long by) {
  *where += by;
}

__attribute__((transaction_safe, noinline)) static long deep(int depth) {
  long local[4] = {1, 2, 3, 4};
  for (int i = 0; i < 4; ++i)
    add_to(&local[i], depth);
  if (depth > 0)
    add_to(&local[0], deep(depth - 1));
  return local[0] + local[3];
}

static void frames(void) {
  long here = 1;
  long sum = 0;
  __transaction_atomic {
    sum = deep(20);
    add_to(&here, sum);
    __transaction_atomic {
      long inner = deep(3);
      add_to(&here, inner);
      if (here != 0)
        __transaction_cancel;
    }
    add_to(&here, deep(20) - sum);
  }
  EXPECT(here == 1 + sum);
  __transaction_atomic {
    add_to(&here, deep(10));
    if (here != 0)
      __transaction_cancel;
  }
  EXPECT(here == 1 + sum);
}

static void all(void) {
  data.l = 1;
  data.i = 1;
  cancel_outermost();
  cancel_inner(1);
  cancel_inner(5);
  commit_inner();
  cancel_inner_then_outer();
  cancel_outer_from_below();
  memory();
  frames();
}

int main(void) {
  all();
  have_a_second_thread();
  all();
  return 0;
}
