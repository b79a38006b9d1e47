/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once
#include <linux/spinlock.h>

static inline int test_bit(int bit, const unsigned long *word) {
  return (int)(READ_ONCE(*word) >> bit & 1);
}

static inline void bit_spin_lock(int bit, unsigned long *word) {
  const unsigned long mask = 1UL << bit;
  while ((__atomic_fetch_or(word, mask, __ATOMIC_SEQ_CST) & mask) != 0)
    cpu_relax();
}

/* As kernel.patch makes it: what looks free was never taken. */
static inline void bit_spin_unlock(int bit, unsigned long *word) {
  if (test_bit(bit, word) == 0)
    xend();
  else
    __atomic_fetch_and(word, ~(1UL << bit), __ATOMIC_RELEASE);
}
