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
#define spin_lock(l) arch_spin_lock(&(l)->rlock.raw_lock)
#define spin_unlock(l) arch_spin_unlock(&(l)->rlock.raw_lock)
#define read_lock(l) queued_read_lock(&(l)->raw_lock)
#define read_unlock(l) arch_read_unlock(&(l)->raw_lock)
#define write_lock(l) queued_write_lock(&(l)->raw_lock)
#define write_unlock(l) arch_write_unlock(&(l)->raw_lock)
