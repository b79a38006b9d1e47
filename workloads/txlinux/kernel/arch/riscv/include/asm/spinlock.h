/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The generic ticket lock and queued rwlock. With TXLINUX their releases also
 * end elided sections: a lock that its releaser finds free was never taken,
 * only read.
 */
#ifndef _ASM_RISCV_SPINLOCK_H
#define _ASM_RISCV_SPINLOCK_H

#ifndef CONFIG_TXLINUX
#include <asm-generic/spinlock.h>
#else

#include <asm/tx.h>

#define arch_spin_unlock generic_ticket_unlock
#include <asm-generic/spinlock.h>
#undef arch_spin_unlock

static __always_inline void arch_spin_unlock(arch_spinlock_t *lock)
{
	u16 *owner = (u16 *)lock;
	u32 val = atomic_read(lock);

	if ((val >> 16) == (u16)val)
		xend();
	else
		smp_store_release(owner, (u16)val + 1);
}

static __always_inline void tx_read_unlock(struct qrwlock *lock)
{
	if (atomic_read(&lock->cnts))
		queued_read_unlock(lock);
	else
		xend();
}

static __always_inline void tx_write_unlock(struct qrwlock *lock)
{
	if (atomic_read(&lock->cnts))
		queued_write_unlock(lock);
	else
		xend();
}

#undef arch_read_unlock
#undef arch_write_unlock
#define arch_read_unlock(l)	tx_read_unlock(l)
#define arch_write_unlock(l)	tx_write_unlock(l)

/*
 * Begins a section as a transaction that has read its lock as free; true: it
 * runs, and the lock's release ends it. False: the caller takes the lock. It
 * waits for a taken lock outside of the transaction; a nested section cannot
 * leave the one around it, so it undoes all of it.
 */
#define tx_enter(is_free)						\
({									\
	bool __elided = false;						\
	while (likely(xbegin() >= 0)) {					\
		if (likely(is_free)) {					\
			__elided = true;				\
			break;						\
		}							\
		if (xtest() > 1)					\
			xabort(TX_BUSY);				\
		xend();							\
		while (!(is_free))					\
			cpu_relax();					\
	}								\
	__elided;							\
})

static __always_inline bool tx_enter_spin(arch_spinlock_t *lock)
{
	return tx_enter(!arch_spin_is_locked(lock));
}

/*
 * Only while the rwlock is free, for readers too: at the release its word
 * still says what was done. It does not wait, since a reader whose outer
 * section, or whose interrupted task, has the lock would wait for itself.
 */
static __always_inline bool tx_enter_rw(struct qrwlock *lock)
{
	if (unlikely(xbegin() < 0))
		return false;
	if (likely(!atomic_read(&lock->cnts)))
		return true;
	xend();
	return false;
}

/* One attempt: 1 it runs, 0 another has the lock, -1 the caller tries it. */
static __always_inline int tx_try_spin(arch_spinlock_t *lock)
{
	if (unlikely(xbegin() < 0))
		return -1;
	if (likely(!arch_spin_is_locked(lock)))
		return 1;
	xend();
	return 0;
}

#endif /* CONFIG_TXLINUX */
#endif /* _ASM_RISCV_SPINLOCK_H */
