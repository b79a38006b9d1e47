/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Locks with the words of the kernel's: a ticket in the upper half, who is served in the lower;
 * readers and a writer. */
#pragma once
#include <linux/compiler.h>

typedef struct {
  u32 counter;
} atomic_t;
typedef atomic_t arch_spinlock_t;
struct qrwlock {
  atomic_t cnts;
};
#define atomic_read(a) __atomic_load_n(&(a)->counter, __ATOMIC_RELAXED)
#define RW_WRITER 0xffu
#define RW_READER 0x200u

static inline int arch_spin_is_locked(arch_spinlock_t *lock) {
  const u32 word = atomic_read(lock);
  return word >> 16 != (word & 0xffff);
}

static inline void arch_spin_lock(arch_spinlock_t *lock) {
  const u32 ticket = __atomic_fetch_add(&lock->counter, 1u << 16, __ATOMIC_SEQ_CST) >> 16;
  while ((__atomic_load_n(&lock->counter, __ATOMIC_ACQUIRE) & 0xffff) != ticket)
    cpu_relax();
}

static inline bool arch_spin_trylock(arch_spinlock_t *lock) {
  u32 word = atomic_read(lock);
  return word >> 16 == (word & 0xffff) &&
         __atomic_compare_exchange_n(&lock->counter, &word, word + (1u << 16), false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static inline void queued_write_lock(struct qrwlock *lock) {
  u32 none = 0;
  while (!__atomic_compare_exchange_n(&lock->cnts.counter, &none, RW_WRITER, false,
                                      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    none = 0;
}

static inline void queued_read_lock(struct qrwlock *lock) {
  while ((__atomic_fetch_add(&lock->cnts.counter, RW_READER, __ATOMIC_SEQ_CST) & RW_WRITER) != 0) {
    __atomic_fetch_sub(&lock->cnts.counter, RW_READER, __ATOMIC_SEQ_CST);
    while ((atomic_read(&lock->cnts) & RW_WRITER) != 0)
      cpu_relax();
  }
}

static inline void queued_write_unlock(struct qrwlock *lock) {
  __atomic_fetch_sub(&lock->cnts.counter, RW_WRITER, __ATOMIC_RELEASE);
}

static inline void queued_read_unlock(struct qrwlock *lock) {
  __atomic_fetch_sub(&lock->cnts.counter, RW_READER, __ATOMIC_RELEASE);
}
