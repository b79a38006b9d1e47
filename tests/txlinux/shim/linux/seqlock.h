/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once
#include <linux/spinlock.h>

typedef struct {
  struct {
    struct {
      unsigned sequence;
    } seqcount;
  } seqcount;
  spinlock_t lock;
} seqlock_t;

static inline unsigned read_seqbegin(const seqlock_t *lock) {
  unsigned start = 0;
  do
    start = __atomic_load_n(&lock->seqcount.seqcount.sequence, __ATOMIC_ACQUIRE);
  while ((start & 1) != 0);
  return start;
}

static inline unsigned read_seqretry(const seqlock_t *lock, unsigned start) {
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return READ_ONCE(lock->seqcount.seqcount.sequence) != start;
}

static inline void write_seqlock(seqlock_t *lock) {
  spin_lock(&lock->lock);
  __atomic_fetch_add(&lock->seqcount.seqcount.sequence, 1, __ATOMIC_SEQ_CST);
}

static inline void write_sequnlock(seqlock_t *lock) {
  __atomic_fetch_add(&lock->seqcount.seqcount.sequence, 1, __ATOMIC_SEQ_CST);
  spin_unlock(&lock->lock);
}
