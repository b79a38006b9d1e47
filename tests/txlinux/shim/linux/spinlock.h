/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The layers above a lock's word: without interrupts, bottom halves and preemption, which a program
 * does not have. */
#pragma once
#include <asm/spinlock.h>

typedef struct {
  arch_spinlock_t raw_lock;
} raw_spinlock_t;
typedef struct {
  raw_spinlock_t rlock;
} spinlock_t;
typedef struct {
  struct qrwlock raw_lock;
} rwlock_t;

#define preempt_disable() ((void)0)
#define preempt_enable() ((void)0)
#define local_irq_disable() ((void)0)
#define local_irq_save(flags) ((flags) = 1)
#define _RET_IP_ 0
#define SOFTIRQ_LOCK_OFFSET 0
#define __local_bh_disable_ip(ip, offset) ((void)0)

#define do_raw_spin_lock(l) arch_spin_lock(&(l)->raw_lock)
#define do_raw_spin_trylock(l) arch_spin_trylock(&(l)->raw_lock)
#define do_raw_read_lock(l) queued_read_lock(&(l)->raw_lock)
#define do_raw_write_lock(l) queued_write_lock(&(l)->raw_lock)

static inline raw_spinlock_t *spinlock_check(spinlock_t *lock) { return &lock->rlock; }
static inline void spin_lock(spinlock_t *lock) { arch_spin_lock(&lock->rlock.raw_lock); }
static inline void spin_unlock(spinlock_t *lock) { arch_spin_unlock(&lock->rlock.raw_lock); }
static inline int spin_trylock(spinlock_t *lock) {
  return arch_spin_trylock(&lock->rlock.raw_lock);
}
#define __ARCH_SPIN_LOCK_UNLOCKED {0}
#define spin_lock_init(l) ((l)->rlock.raw_lock = (arch_spinlock_t)__ARCH_SPIN_LOCK_UNLOCKED)
#define spin_lock_nested(l, c) ((void)(c), spin_lock(l))
#define assert_spin_locked(l) ((void)(l))
#define BUG_ON(x) ((x) ? __builtin_trap() : (void)0)

#define read_lock(l) queued_read_lock(&(l)->raw_lock)
#define read_unlock(l) arch_read_unlock(&(l)->raw_lock)
#define write_lock(l) queued_write_lock(&(l)->raw_lock)
#define write_unlock(l) arch_write_unlock(&(l)->raw_lock)

#ifdef CONFIG_COARSE_LOCKS
#include <linux/coarselock.h>
#endif
