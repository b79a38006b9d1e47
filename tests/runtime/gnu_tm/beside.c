/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Hardware transactions that commit while one by software, which does not fit the hardware, is in
 * its middle: it waits until they have done so, or the program would not end. It reads none of what
 * they change, so that it need not begin again. */
#include "check.h"

#include <stdatomic.h>
#include <stdint.h>

enum { PAGES = 64, PAGE = 4096, WANTED = 40 };

static struct page {
  _Alignas(PAGE) long word;
} pages[PAGES];
static _Alignas(PAGE) long small; /* of the short ones */
_Alignas(PAGE) long looked_at;    /* by the long one: not static, or gcc knows what it is */
static atomic_int begun;
static atomic_int enough;

__attribute__((transaction_pure, noinline)) static void say_begun(void) { atomic_store(&begun, 1); }
__attribute__((transaction_pure, noinline)) static int is_enough(void) {
  return atomic_load(&enough);
}

__attribute__((noinline)) static void *long_one(void *argument) {
  __transaction_atomic {
    for (int i = 0; i < PAGES; ++i)
      ++pages[i].word;
    say_begun();
    while (!is_enough())
      pages[0].word += looked_at; /* or those who commit would wait for it */
  }
  return argument;
}

/* Gives memory back in each: by gcc's uninstrumented code plainly. */
__attribute__((noinline)) static void short_one(void) {
  __transaction_atomic {
    ++small;
    free(malloc(24));
  }
}

int main(void) {
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, long_one, NULL) == 0);
  while (!atomic_load(&begun))
    usleep(1);
  for (int i = 0; i < WANTED; ++i)
    short_one();
  atomic_store(&enough, 1);
  pthread_join(thread, NULL);
  EXPECT(small == WANTED);
  for (int i = 0; i < PAGES; ++i)
    EXPECT(pages[i].word == 1 + looked_at);
  return 0;
}
