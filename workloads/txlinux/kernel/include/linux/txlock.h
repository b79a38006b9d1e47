/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sections that run as transactions where the hardware lets them. The releases
 * are the ordinary ones: they tell an elided section from a real one. A place
 * that uses these and a place that takes the same lock exclude each other,
 * because an elided section has read the lock's word.
 */
#ifndef __LINUX_TXLOCK_H
#define __LINUX_TXLOCK_H

#include <linux/spinlock.h>
#include <linux/seqlock.h>
#include <linux/bit_spinlock.h>

#ifdef CONFIG_TXLINUX

void _raw_spin_lock_tx(raw_spinlock_t *lock)			__acquires(lock);
void _raw_spin_lock_irq_tx(raw_spinlock_t *lock)		__acquires(lock);
void _raw_spin_lock_bh_tx(raw_spinlock_t *lock)			__acquires(lock);
unsigned long _raw_spin_lock_irqsave_tx(raw_spinlock_t *lock)	__acquires(lock);
int _raw_spin_trylock_tx(raw_spinlock_t *lock);
void _raw_read_lock_tx(rwlock_t *lock)				__acquires(lock);
void _raw_write_lock_tx(rwlock_t *lock)				__acquires(lock);
void _raw_read_lock_bh_tx(rwlock_t *lock)			__acquires(lock);
void _raw_write_lock_bh_tx(rwlock_t *lock)			__acquires(lock);
void bit_spin_lock_tx(int bit, unsigned long *addr)		__acquires(bitlock);

/*
 * A section that only reads, under a sequence lock. It ends by
 * read_seqretry_tx(), or by read_seqleave_tx() on a way that asks for no retry.
 */
unsigned read_seqbegin_tx(const seqlock_t *lock);
unsigned read_seqretry_tx(const seqlock_t *lock, unsigned start);
void read_seqleave_tx(unsigned start);

#define raw_spin_lock_tx(l)		_raw_spin_lock_tx(l)
#define raw_spin_lock_irq_tx(l)		_raw_spin_lock_irq_tx(l)
#define raw_spin_lock_irqsave_tx(l, f)	\
	do { typecheck(unsigned long, f); f = _raw_spin_lock_irqsave_tx(l); } while (0)
#define raw_spin_trylock_tx(l)		__cond_lock(l, _raw_spin_trylock_tx(l))

#ifdef CONFIG_COARSE_LOCKS
void dcache_lock_tx(dcache_lock_t *lock);
int dcache_trylock_tx(dcache_lock_t *lock);
static __always_inline void own_lock_tx(spinlock_t *lock)
{
	_raw_spin_lock_tx(&lock->rlock);
}
static __always_inline int own_trylock_tx(spinlock_t *lock)
{
	return _raw_spin_trylock_tx(&lock->rlock);
}
#define spin_lock_tx(l)			coarse_or(l, dcache_lock_tx, own_lock_tx)
#define spin_trylock_tx(l)		coarse_or(l, dcache_trylock_tx, own_trylock_tx)
#else
#define spin_lock_tx(l)			_raw_spin_lock_tx(spinlock_check(l))
#define spin_trylock_tx(l)		raw_spin_trylock_tx(spinlock_check(l))
#endif
#define spin_lock_nested_tx(l, c)	((void)(c), spin_lock_tx(l))
#define spin_lock_irq_tx(l)		_raw_spin_lock_irq_tx(spinlock_check(l))
#define spin_lock_bh_tx(l)		_raw_spin_lock_bh_tx(spinlock_check(l))
#define spin_lock_irqsave_tx(l, f)	raw_spin_lock_irqsave_tx(spinlock_check(l), f)
#define read_lock_tx(l)			_raw_read_lock_tx(l)
#define write_lock_tx(l)		_raw_write_lock_tx(l)
#define read_lock_bh_tx(l)		_raw_read_lock_bh_tx(l)
#define write_lock_bh_tx(l)		_raw_write_lock_bh_tx(l)

#else

#define raw_spin_lock_tx(l)		raw_spin_lock(l)
#define raw_spin_lock_irq_tx(l)		raw_spin_lock_irq(l)
#define raw_spin_lock_irqsave_tx(l, f)	raw_spin_lock_irqsave(l, f)
#define raw_spin_trylock_tx(l)		raw_spin_trylock(l)
#define spin_lock_tx(l)			spin_lock(l)
#define spin_lock_nested_tx(l, c)	spin_lock_nested(l, c)
#define spin_lock_irq_tx(l)		spin_lock_irq(l)
#define spin_lock_bh_tx(l)		spin_lock_bh(l)
#define spin_lock_irqsave_tx(l, f)	spin_lock_irqsave(l, f)
#define spin_trylock_tx(l)		spin_trylock(l)
#define read_lock_tx(l)			read_lock(l)
#define write_lock_tx(l)		write_lock(l)
#define read_lock_bh_tx(l)		read_lock_bh(l)
#define write_lock_bh_tx(l)		write_lock_bh(l)
#define bit_spin_lock_tx(b, a)		bit_spin_lock(b, a)
#define read_seqbegin_tx(l)		read_seqbegin(l)
#define read_seqretry_tx(l, s)		read_seqretry(l, s)
#define read_seqleave_tx(s)		do { } while (0)

#endif

#define hlist_bl_lock_tx(b)		bit_spin_lock_tx(0, (unsigned long *)(b))

#endif
