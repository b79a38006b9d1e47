/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CONFIG_COARSE_LOCKS: one lock for all dentries instead of one in each. It is
 * recursive for the processor that has it, since dentries' locks nest. Included
 * by <linux/spinlock.h>: the ordinary functions choose by the lock's type.
 */
#ifndef __LINUX_COARSELOCK_H
#define __LINUX_COARSELOCK_H

/* Where a dentry's own lock would be, and as large. */
typedef struct { u32 unused; } dcache_lock_t;

void dcache_lock(dcache_lock_t *lock);
int dcache_trylock(dcache_lock_t *lock);
void dcache_unlock(dcache_lock_t *lock);
int dcache_is_locked(dcache_lock_t *lock);
static inline void dcache_lock_init(dcache_lock_t *lock) { }

static __always_inline void own_lock_init(spinlock_t *lock)
{
	spin_lock_init(lock);
}

/* As the macro does: inside of a transaction a lock looks free. */
static __always_inline void own_assert_locked(spinlock_t *lock)
{
	assert_spin_locked(lock);
}

static __always_inline void dcache_assert_locked(dcache_lock_t *lock)
{
	BUG_ON(!dcache_is_locked(lock));
}

#define coarse_or(l, coarse, own) _Generic((l), dcache_lock_t *: coarse, default: own)(l)

#undef spin_lock_init
#undef spin_lock_nested
#undef assert_spin_locked
#define spin_lock_init(l)	coarse_or(l, dcache_lock_init, own_lock_init)
#define spin_lock(l)		coarse_or(l, dcache_lock, spin_lock)
#define spin_lock_nested(l, c)	((void)(c), spin_lock(l))
#define spin_trylock(l)		coarse_or(l, dcache_trylock, spin_trylock)
#define spin_unlock(l)		coarse_or(l, dcache_unlock, spin_unlock)
#define assert_spin_locked(l)	coarse_or(l, dcache_assert_locked, own_assert_locked)

#endif
