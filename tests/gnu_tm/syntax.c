// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every form that gcc's C has; prints the same as what gcc makes of it.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

static long x, y;
static const long five = 5;
static struct pair {
  int a, b;
} both = {3, 4};

__attribute__((transaction_safe)) static long add(long by) {
  x += by;
  return x;
}
static int printed;
__attribute__((transaction_pure)) static void trace(long value) {
  ++printed;
  printf("traced %ld\n", value);
}
__attribute__((transaction_callable)) static void increment(void) {
  x++;
  y++;
}
static void speak(void) { printf("spoken\n"); }
typedef long (*changer)(long) __attribute__((transaction_safe));
static changer change = add;

#define TM_BEGIN() __transaction_atomic {
#define TM_END() }

static long leave(int n) {
  for (int i = 0; i < n; i++) {
    __transaction_atomic {
      if (i == 3)
        continue;
      if (i == 7)
        break;
      x++;
      y++;
    }
  }
  __transaction_atomic {
    if (n > 5)
      return x;
    x = 99;
  }
  return -1;
}

static void *work(void *given) {
  for (int i = 0; i < 20000; i++) {
    __transaction_atomic {
      const long before = x;
      y = y + 1;
      x = before + 1;
    }
  }
  return given;
}

int main(void) {
  const long left = leave(10);
  printf("left %ld, %ld\n", left, y);
  const long value = __transaction_atomic(x + five);
  const int none = __transaction_atomic((add(1), 0));
  const struct pair copy = __transaction_relaxed(both);
  printf("values %ld %d %d %d\n", value, none, copy.a, copy.b);
  TM_BEGIN()
  add(2);
  trace(77);
  change(3);
  TM_END()
  __transaction_relaxed {
    increment();
    speak();
    printf("relaxed\n");
  }
  __transaction_atomic [[outer]] {
    x = 1000;
    if (copy.a == 3)
      __transaction_cancel [[outer]];
  }
  __transaction_atomic __attribute__((outer)) {
    y = 2000;
    __transaction_atomic {
      x = 3000;
      __transaction_cancel;
    }
    x += 10;
  }
  printf("now %ld %ld, %d printed\n", x, y, printed);
  x = y = 0;
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  printf("counted %ld %ld\n", x, y);
  return 0;
}
