// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entries of locks that run the section as a transaction if they can.
 *
 * What the stock entries do before they look at the lock (interrupts, bottom
 * halves, preemption) is done before the transaction: a restart does not
 * repeat it. They are leaves without a frame, so that the checkpointed stack
 * pointer is the caller's.
 */
#include <linux/txlock.h>
#include <linux/bottom_half.h>
#include <linux/interrupt.h>
#include <linux/export.h>

/* Odd, so never a sequence that a reader was given. */
#define SEQ_ELIDED	1U

static __always_inline void enter_spin(raw_spinlock_t *lock)
{
	if (!tx_enter_spin(&lock->raw_lock))
		do_raw_spin_lock(lock);
}

void __lockfunc _raw_spin_lock_tx(raw_spinlock_t *lock)
{
	preempt_disable();
	enter_spin(lock);
}
EXPORT_SYMBOL(_raw_spin_lock_tx);

void __lockfunc _raw_spin_lock_irq_tx(raw_spinlock_t *lock)
{
	local_irq_disable();
	preempt_disable();
	enter_spin(lock);
}
EXPORT_SYMBOL(_raw_spin_lock_irq_tx);

void __lockfunc _raw_spin_lock_bh_tx(raw_spinlock_t *lock)
{
	__local_bh_disable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
	enter_spin(lock);
}
EXPORT_SYMBOL(_raw_spin_lock_bh_tx);

unsigned long __lockfunc _raw_spin_lock_irqsave_tx(raw_spinlock_t *lock)
{
	unsigned long flags;

	local_irq_save(flags);
	preempt_disable();
	enter_spin(lock);
	return flags;
}
EXPORT_SYMBOL(_raw_spin_lock_irqsave_tx);

int __lockfunc _raw_spin_trylock_tx(raw_spinlock_t *lock)
{
	int got;

	preempt_disable();
	got = tx_try_spin(&lock->raw_lock);
	if (got < 0)
		got = do_raw_spin_trylock(lock);
	if (!got)
		preempt_enable();
	return got;
}
EXPORT_SYMBOL(_raw_spin_trylock_tx);

void __lockfunc _raw_read_lock_tx(rwlock_t *lock)
{
	preempt_disable();
	if (!tx_enter_rw(&lock->raw_lock))
		do_raw_read_lock(lock);
}
EXPORT_SYMBOL(_raw_read_lock_tx);

void __lockfunc _raw_write_lock_tx(rwlock_t *lock)
{
	preempt_disable();
	if (!tx_enter_rw(&lock->raw_lock))
		do_raw_write_lock(lock);
}
EXPORT_SYMBOL(_raw_write_lock_tx);

void __lockfunc _raw_read_lock_bh_tx(rwlock_t *lock)
{
	__local_bh_disable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
	if (!tx_enter_rw(&lock->raw_lock))
		do_raw_read_lock(lock);
}
EXPORT_SYMBOL(_raw_read_lock_bh_tx);

void __lockfunc _raw_write_lock_bh_tx(rwlock_t *lock)
{
	__local_bh_disable_ip(_RET_IP_, SOFTIRQ_LOCK_OFFSET);
	if (!tx_enter_rw(&lock->raw_lock))
		do_raw_write_lock(lock);
}
EXPORT_SYMBOL(_raw_write_lock_bh_tx);

void __lockfunc bit_spin_lock_tx(int bit, unsigned long *addr)
{
	preempt_disable();
	if (tx_enter(!test_bit(bit, addr)))
		return;
	preempt_enable();
	bit_spin_lock(bit, addr);
}
EXPORT_SYMBOL(bit_spin_lock_tx);

/* It has read an even sequence, so that a writer undoes it. */
unsigned __lockfunc read_seqbegin_tx(const seqlock_t *lock)
{
	if (tx_enter(!(READ_ONCE(lock->seqcount.seqcount.sequence) & 1)))
		return SEQ_ELIDED;
	return read_seqbegin(lock);
}
EXPORT_SYMBOL(read_seqbegin_tx);

unsigned __lockfunc read_seqretry_tx(const seqlock_t *lock, unsigned start)
{
	if (start != SEQ_ELIDED)
		return read_seqretry(lock, start);
	xend();
	return 0;
}
EXPORT_SYMBOL(read_seqretry_tx);

void __lockfunc read_seqleave_tx(unsigned start)
{
	if (start == SEQ_ELIDED)
		xend();
}
EXPORT_SYMBOL(read_seqleave_tx);
