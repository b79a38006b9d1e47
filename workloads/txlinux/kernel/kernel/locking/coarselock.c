// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one lock of all dentries. No interrupt takes it, so that a processor that
 * finds itself as its owner is inside a section of its own.
 *
 * With TXLINUX a section is elided while the word is free; inside a real
 * section an inner one only counts. So the word says at a release what was
 * done, in whatever order sections of the one lock end.
 */
#include <linux/spinlock.h>
#include <linux/txlock.h>
#include <linux/cache.h>
#include <linux/smp.h>

static struct {
	arch_spinlock_t word;
	int owner;
	unsigned int depth;
} all ____cacheline_aligned = { .word = __ARCH_SPIN_LOCK_UNLOCKED, .owner = -1 };

/* True: another level of what this processor has for real. */
static __always_inline bool again(void)
{
	if (READ_ONCE(all.owner) != smp_processor_id())
		return false;
	all.depth++;
	return true;
}

static __always_inline void own(void)
{
	WRITE_ONCE(all.owner, smp_processor_id());
	all.depth = 1;
}

static __always_inline void take(void)
{
	arch_spin_lock(&all.word);
	own();
}

static __always_inline int try(void)
{
	if (!arch_spin_trylock(&all.word))
		return 0;
	own();
	return 1;
}

void __lockfunc dcache_lock(dcache_lock_t *lock)
{
	preempt_disable();
	if (!again())
		take();
}

int __lockfunc dcache_trylock(dcache_lock_t *lock)
{
	preempt_disable();
	if (again() || try())
		return 1;
	preempt_enable();
	return 0;
}

int dcache_is_locked(dcache_lock_t *lock)
{
#ifdef CONFIG_TXLINUX
	if (xtest())
		return 1;
#endif
	return arch_spin_is_locked(&all.word);
}

#ifdef CONFIG_TXLINUX

void __lockfunc dcache_unlock(dcache_lock_t *lock)
{
	if (!arch_spin_is_locked(&all.word)) {
		xend();
	} else if (!--all.depth) {
		WRITE_ONCE(all.owner, -1);
		arch_spin_unlock(&all.word);
	}
	preempt_enable();
}

void __lockfunc dcache_lock_tx(dcache_lock_t *lock)
{
	preempt_disable();
	if (!again() && !tx_enter_spin(&all.word))
		take();
}

int __lockfunc dcache_trylock_tx(dcache_lock_t *lock)
{
	int got;

	preempt_disable();
	if (again())
		return 1;
	got = tx_try_spin(&all.word);
	if (got < 0)
		got = try();
	if (!got)
		preempt_enable();
	return got;
}

#else

void __lockfunc dcache_unlock(dcache_lock_t *lock)
{
	if (!--all.depth) {
		WRITE_ONCE(all.owner, -1);
		arch_spin_unlock(&all.word);
	}
	preempt_enable();
}

#endif
