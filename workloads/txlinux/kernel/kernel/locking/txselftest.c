// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the lock functions in the kernel that they are for. Opening
 * /proc/txselftest runs them; it shows a line for each, and last how many have
 * passed. Every kernel has them: without TXLINUX, and with TXLINUX_STUB, all
 * sections take their locks.
 *
 * A check inside of a section must outlive its abort, so that failures are
 * noted while the transaction is suspended.
 */
#include <linux/txlock.h>
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/io.h>
#include <linux/kdebug.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/of_address.h>
#include <linux/panic.h>
#include <linux/proc_fs.h>
#include <linux/rculist_bl.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>
#include <asm/asm-extable.h>
#include <asm/csr.h>
#include <asm/sbi.h>
#include <asm/tlbflush.h>
#include <asm/tx.h>

#define CSR_STXLIMIT	0x5c2
#define CSR_STXCTL	0x5c3
#define CSR_STXSTATUS	0xdc0
#define STXCTL_RELEASE	1UL	/* early release by the stack pointer */

#define OWN_CODE	16	/* the first that xabort has for programs */
#define TRIES		50	/* at what another interrupt may disturb */
#define ROUNDS		200	/* of each thread and kind */

#ifdef TX_HARDWARE
static __always_inline long suspend(void)
{
	long handle;

	asm volatile (".insn i CUSTOM_0, 3, %0, x0, 0" : "=r" (handle) : : "memory");
	return handle;
}

static __always_inline void resume(long handle)
{
	asm volatile (".insn i CUSTOM_0, 4, x0, %0, 0" : : "r" (handle) : "memory");
}

/* Of the transaction that runs; 0 outside. */
static __always_inline unsigned long restarts(void)
{
	return csr_read(CSR_STXSTATUS) >> 32;
}
#else
static __always_inline long suspend(void)		{ return 0; }
static __always_inline void resume(long handle)		{ }
static __always_inline unsigned long restarts(void)	{ return 0; }
#endif

#ifdef TX_HARDWARE
#define HARDWARE	true
#else
#define HARDWARE	false
#endif

/* Aborts what runs if it is the first attempt. */
static __always_inline void abort_once(void)
{
	if (xtest() && !restarts())
		xabort(OWN_CODE);
}

#define NOTES	8
static struct {
	int line;
	const char *what, *of;
} notes[NOTES];
static atomic_t noted;
static const char *subject = "";	/* the form or the kind that is tested */

static noinline void note(int line, const char *what)
{
	long handle = suspend();
	int at = atomic_inc_return(&noted) - 1;

	if (at < NOTES) {
		notes[at].line = line;
		notes[at].what = what;
		notes[at].of = subject;
	}
	resume(handle);
}

#define EXPECT(what) do { if (!(what)) note(__LINE__, #what); } while (0)

/* --- forms ------------------------------------------------------------- */

static DEFINE_SPINLOCK(spin);
static DEFINE_RAW_SPINLOCK(raw);
static DEFINE_RWLOCK(rw);
static DEFINE_SEQLOCK(sequence);
static unsigned long word_of_bits;
static struct hlist_bl_head chain;
static unsigned long saved;
static unsigned int start;
static DEFINE_SPINLOCK(outer);

static bool spin_held(void)	{ return spin_is_locked(&spin); }
static bool raw_held(void)	{ return raw_spin_is_locked(&raw); }
static bool rw_held(void)	{ return atomic_read(&rw.raw_lock.cnts); }
static bool bit_held(void)	{ return test_bit(3, &word_of_bits); }
static bool chain_held(void)	{ return hlist_bl_is_locked(&chain); }

static void enter_spin(void)		{ spin_lock_tx(&spin); }
static void leave_spin(void)		{ spin_unlock(&spin); }
static void enter_nested(void)		{ spin_lock_nested_tx(&spin, 1); }
static void enter_irq(void)		{ spin_lock_irq_tx(&spin); }
static void leave_irq(void)		{ spin_unlock_irq(&spin); }
static void enter_irqsave(void)		{ spin_lock_irqsave_tx(&spin, saved); }
static void leave_irqsave(void)		{ spin_unlock_irqrestore(&spin, saved); }
static void enter_bh(void)		{ spin_lock_bh_tx(&spin); }
static void leave_bh(void)		{ spin_unlock_bh(&spin); }
static void enter_try(void)		{ while (!spin_trylock_tx(&spin)) cpu_relax(); }
static void enter_raw(void)		{ raw_spin_lock_tx(&raw); }
static void leave_raw(void)		{ raw_spin_unlock(&raw); }
static void enter_raw_irq(void)		{ raw_spin_lock_irq_tx(&raw); }
static void leave_raw_irq(void)		{ raw_spin_unlock_irq(&raw); }
static void enter_raw_irqsave(void)	{ raw_spin_lock_irqsave_tx(&raw, saved); }
static void leave_raw_irqsave(void)	{ raw_spin_unlock_irqrestore(&raw, saved); }
static void enter_raw_try(void)		{ while (!raw_spin_trylock_tx(&raw)) cpu_relax(); }
static void enter_read(void)		{ read_lock_tx(&rw); }
static void leave_read(void)		{ read_unlock(&rw); }
static void enter_write(void)		{ write_lock_tx(&rw); }
static void leave_write(void)		{ write_unlock(&rw); }
static void enter_read_bh(void)		{ read_lock_bh_tx(&rw); }
static void leave_read_bh(void)		{ read_unlock_bh(&rw); }
static void enter_write_bh(void)	{ write_lock_bh_tx(&rw); }
static void leave_write_bh(void)	{ write_unlock_bh(&rw); }
static void enter_bit(void)		{ bit_spin_lock_tx(3, &word_of_bits); }
static void leave_bit(void)		{ bit_spin_unlock(3, &word_of_bits); }
static void leave_bit_plainly(void)	{ __bit_spin_unlock(3, &word_of_bits); }
static void enter_chain(void)		{ hlist_bl_lock_tx(&chain); }
static void leave_chain(void)		{ hlist_bl_unlock(&chain); }
static void enter_sequence(void)	{ start = read_seqbegin_tx(&sequence); }
static void leave_sequence(void)	{ EXPECT(!read_seqretry_tx(&sequence, start)); }
static void leave_early(void)		{ read_seqleave_tx(start); }

#ifdef CONFIG_COARSE_LOCKS
static dcache_lock_t one, another;
static bool dcache_held(void)		{ return !xtest() && dcache_is_locked(&one); }
static void enter_dcache(void)		{ spin_lock_tx(&one); }
static void leave_dcache(void)		{ spin_unlock(&one); }
static void enter_dcache_try(void)	{ while (!spin_trylock_tx(&one)) cpu_relax(); }
#endif

/* `held`: whether its word says that it is taken; NULL: it holds nothing. */
static const struct form {
	const char *name;
	void (*enter)(void), (*leave)(void);
	bool (*held)(void);
	bool irqs_off;
} forms[] = {
	{ "spin_lock", enter_spin, leave_spin, spin_held },
	{ "spin_lock_nested", enter_nested, leave_spin, spin_held },
	{ "spin_lock_irq", enter_irq, leave_irq, spin_held, true },
	{ "spin_lock_irqsave", enter_irqsave, leave_irqsave, spin_held, true },
	{ "spin_lock_bh", enter_bh, leave_bh, spin_held },
	{ "spin_trylock", enter_try, leave_spin, spin_held },
	{ "raw_spin_lock", enter_raw, leave_raw, raw_held },
	{ "raw_spin_lock_irq", enter_raw_irq, leave_raw_irq, raw_held, true },
	{ "raw_spin_lock_irqsave", enter_raw_irqsave, leave_raw_irqsave, raw_held, true },
	{ "raw_spin_trylock", enter_raw_try, leave_raw, raw_held },
	{ "read_lock", enter_read, leave_read, rw_held },
	{ "write_lock", enter_write, leave_write, rw_held },
	{ "read_lock_bh", enter_read_bh, leave_read_bh, rw_held },
	{ "write_lock_bh", enter_write_bh, leave_write_bh, rw_held },
	{ "bit_spin_lock", enter_bit, leave_bit, bit_held },
	{ "bit_spin_lock, __bit_spin_unlock", enter_bit, leave_bit_plainly, bit_held },
	{ "hlist_bl_lock", enter_chain, leave_chain, chain_held },
	{ "read_seqbegin, read_seqretry", enter_sequence, leave_sequence, NULL },
	{ "read_seqbegin, read_seqleave", enter_sequence, leave_early, NULL },
#ifdef CONFIG_COARSE_LOCKS
	{ "spin_lock of dentries", enter_dcache, leave_dcache, dcache_held },
	{ "spin_trylock of dentries", enter_dcache_try, leave_dcache, dcache_held },
#endif
};

#define for_each_form(f) \
	for (f = forms; f < forms + ARRAY_SIZE(forms) && (subject = f->name); f++)

/* Inside: a transaction, and the lock is not taken; or none, and it is. */
#define EXPECT_INSIDE(f) \
	EXPECT(!(f)->held || (f)->held() == !xtest())

/* Behind a section nothing is left of it. */
#define EXPECT_OUTSIDE(f)						\
do {									\
	EXPECT(!xtest());						\
	EXPECT(!(f)->held || !(f)->held());				\
	EXPECT(!irqs_disabled());					\
	EXPECT(!in_softirq());						\
} while (0)

static void test_elides(void)
{
	const struct form *f;
	bool elided;
	int i;

	for_each_form(f) {
		elided = false;
		for (i = 0; i < TRIES && !elided; i++) {
			f->enter();
			elided = xtest() == 1;
			EXPECT_INSIDE(f);
			EXPECT(irqs_disabled() == f->irqs_off);
			f->leave();
			EXPECT_OUTSIDE(f);
			if (!HARDWARE)
				break;
		}
		EXPECT(elided == HARDWARE);
	}
}

/* What an attempt has written is undone; the next has the same state around it. */
static unsigned long scribbled;

static void test_abort(void)
{
	const struct form *f;

	for_each_form(f) {
		scribbled = 0;
		f->enter();
		EXPECT(scribbled == 0);
		EXPECT(irqs_disabled() == f->irqs_off);
		scribbled++;
		abort_once();
		EXPECT(scribbled == 1);
		EXPECT_INSIDE(f);
		f->leave();
		EXPECT_OUTSIDE(f);
		EXPECT(scribbled == 1);
	}
}

/* --- what a transaction may not do -------------------------------------- */

static void __iomem *device;	/* reading it changes nothing */

static void do_io(void)		{ readl(device); }
static void do_call(void)	{ sbi_ecall(SBI_EXT_BASE, SBI_EXT_BASE_GET_SPEC_VERSION, 0, 0, 0, 0, 0, 0); }
static void do_csr(void)	{ csr_write(CSR_SCRATCH, 0); }
static void do_satp(void)	{ csr_write(CSR_SATP, csr_read(CSR_SATP)); }
static void do_wait(void)	{ wait_for_interrupt(); }
static void do_restart(void)	{ while (xtest()) xabort(OWN_CODE); }

static const struct {
	const char *name;
	void (*act)(void);
} refused[] = {
	{ "an access to a device", do_io },
	{ "a call of the firmware", do_call },
	{ "a write of sscratch", do_csr },
	{ "a write of satp", do_satp },
	{ "wfi", do_wait },
	{ "restarts up to the limit", do_restart },
};

static void test_refusals(void)
{
	const struct form *f;
	int i;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		for_each_form(f) {
			f->enter();
			refused[i].act();
			EXPECT(!xtest());
			EXPECT_INSIDE(f);
			f->leave();
			EXPECT_OUTSIDE(f);
		}
	}
}

/* The same within another section, released in both orders. */
static void test_nested_refusals(void)
{
	const struct form *f;
	int i, order;

	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		for_each_form(f) {
			for (order = 0; order < 2; order++) {
				spin_lock_tx(&outer);
				f->enter();
				refused[i].act();
				EXPECT(!xtest());
				EXPECT(spin_is_locked(&outer));
				EXPECT_INSIDE(f);
				if (order)
					spin_unlock(&outer);
				f->leave();
				if (!order)
					spin_unlock(&outer);
				EXPECT_OUTSIDE(f);
				EXPECT(!spin_is_locked(&outer));
			}
		}
	}
}

static void test_nesting(void)
{
	const struct form *f;
	int i, order;
	bool both;

	for_each_form(f) {
		for (order = 0; order < 2; order++) {
			both = false;
			for (i = 0; i < TRIES && !both; i++) {
				spin_lock_tx(&outer);
				f->enter();
				both = xtest() == 2;
				if (!spin_is_locked(&outer))
					EXPECT_INSIDE(f);
				if (order)
					spin_unlock(&outer);
				EXPECT(!both || !order || xtest() == 1);
				f->leave();
				EXPECT(!both || order || xtest() == 1);
				if (!order)
					spin_unlock(&outer);
				EXPECT_OUTSIDE(f);
				if (!HARDWARE)
					break;
			}
			EXPECT(both == HARDWARE);
		}
	}
}

/* --- a lock that is really held ----------------------------------------- */

static const struct form *holder;
static volatile bool let_go;

static enum hrtimer_restart on_time(struct hrtimer *timer);
static struct hrtimer timer;

static void start_timer(unsigned long us)
{
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = on_time;
	hrtimer_start(&timer, us * NSEC_PER_USEC, HRTIMER_MODE_REL_PINNED_HARD);
}

static unsigned long stirred, handled;
static DEFINE_SPINLOCK(of_handler);

/* In an interrupt: releases what is held, writes what a section has read, and
 * runs a section of its own. */
static enum hrtimer_restart on_time(struct hrtimer *unused)
{
	EXPECT(!xtest());
	spin_lock_tx(&of_handler);
	EXPECT(xtest() <= 1 && (HARDWARE || !xtest()));
	handled++;
	spin_unlock(&of_handler);
	EXPECT(!xtest());
	WRITE_ONCE(stirred, stirred + 1);
	if (!let_go) {
		let_go = true;
		if (holder->held == spin_held)
			arch_spin_unlock(&spin.rlock.raw_lock);
		else if (holder->held == raw_held)
			arch_spin_unlock(&raw.raw_lock);
		else if (holder->held == rw_held)
			queued_write_unlock(&rw.raw_lock);
		else if (holder->held == bit_held)
			clear_bit_unlock(3, &word_of_bits);
		else if (holder->held == chain_held)
			clear_bit_unlock(0, (unsigned long *)&chain);
		else
			write_seqcount_end(&sequence.seqcount.seqcount);
	}
	return HRTIMER_NORESTART;
}

/* Takes the form's lock as another processor would. */
static void hold(const struct form *f)
{
	holder = f;
	let_go = false;
	if (f->held == spin_held)
		arch_spin_lock(&spin.rlock.raw_lock);
	else if (f->held == raw_held)
		arch_spin_lock(&raw.raw_lock);
	else if (f->held == rw_held)
		queued_write_lock(&rw.raw_lock);
	else if (f->held == bit_held)
		EXPECT(!test_and_set_bit_lock(3, &word_of_bits));
	else if (f->held == chain_held)
		EXPECT(!test_and_set_bit_lock(0, (unsigned long *)&chain));
	else
		write_seqcount_begin(&sequence.seqcount.seqcount);
	start_timer(300);
}

static bool holdable(const struct form *f)
{
#ifdef CONFIG_COARSE_LOCKS
	if (f->held == dcache_held)
		return false;
#endif
	return !f->irqs_off;	/* the interrupt must come */
}

/* Nobody is inside before it is released: alone, and within a section, which
 * the inner one undoes. */
static void test_held(void)
{
	const struct form *f;
	int nested;

	for_each_form(f) {
		if (!holdable(f))
			continue;
		for (nested = 0; nested < 2; nested++) {
			hold(f);
			if (nested)
				spin_lock_tx(&outer);
			f->enter();
			EXPECT(let_go);
			f->leave();
			if (nested)
				spin_unlock(&outer);
			hrtimer_cancel(&timer);
			EXPECT_OUTSIDE(f);
			EXPECT(!spin_is_locked(&outer));
		}
	}
}

static void test_try_once(void)
{
	arch_spin_lock(&spin.rlock.raw_lock);
	EXPECT(!spin_trylock_tx(&spin));
	EXPECT(!xtest());
	arch_spin_unlock(&spin.rlock.raw_lock);
	EXPECT(!spin_is_locked(&spin));
	read_lock(&rw);
	read_lock_tx(&rw);	/* a reader in a reader does not wait for itself */
	EXPECT(!xtest());
	read_unlock(&rw);
	read_unlock(&rw);
	EXPECT(!rw_held());
}

/* --- bit locks, sequences ------------------------------------------------ */

static void test_chain(void)
{
	struct hlist_bl_node a, b;
	int way;

	INIT_HLIST_BL_NODE(&a);
	INIT_HLIST_BL_NODE(&b);
	for (way = 0; way < 4; way++) {
		bool plain = way & 1, rcu = way & 2;

		if (plain)
			hlist_bl_lock(&chain);
		else
			hlist_bl_lock_tx(&chain);
		if (rcu) {
			hlist_bl_add_head_rcu(&a, &chain);
			hlist_bl_add_head_rcu(&b, &chain);
		} else {
			hlist_bl_add_head(&a, &chain);
			hlist_bl_add_head(&b, &chain);
		}
		/* The bit stays what it was. */
		EXPECT(hlist_bl_is_locked(&chain) == !xtest());
		EXPECT(hlist_bl_first(&chain) == &b);
		EXPECT(!plain || !xtest());
		hlist_bl_unlock(&chain);
		EXPECT(!xtest());
		EXPECT(!hlist_bl_is_locked(&chain));
		hlist_bl_lock_tx(&chain);
		hlist_bl_del_init(&b);
		hlist_bl_del_init(&a);
		EXPECT(hlist_bl_is_locked(&chain) == !xtest());
		hlist_bl_unlock(&chain);
		EXPECT(!xtest());
		EXPECT(!chain.first);
	}
}

static void test_sequence(void)
{
	unsigned int before, seq;

	/* A writer between begin and end of a reader that is no transaction. */
	before = sequence.seqcount.seqcount.sequence;
	seq = read_seqbegin_tx(&sequence);
	do_call();
	EXPECT(!xtest());
	EXPECT(seq == before);
	write_seqlock(&sequence);
	write_sequnlock(&sequence);
	EXPECT(read_seqretry_tx(&sequence, before));
	seq = read_seqbegin_tx(&sequence);
	EXPECT(sequence.seqcount.seqcount.sequence == before + 2);
	read_seqleave_tx(seq);
	EXPECT(!xtest());
}

/* --- state that an abort restores ---------------------------------------- */

static DEFINE_SPINLOCK(inner);

static void test_inner_irqsave(void)
{
	unsigned long flags;
	int way;

	for (way = 0; way < 2; way++) {
		spin_lock_tx(&outer);
		EXPECT(!irqs_disabled());	/* in the second attempt too */
		if (way)
			spin_lock_irqsave(&inner, flags);
		else
			spin_lock_irqsave_tx(&inner, flags);
		EXPECT(irqs_disabled());
		abort_once();
		spin_unlock_irqrestore(&inner, flags);
		EXPECT(!irqs_disabled());
		spin_unlock(&outer);
		EXPECT(!xtest());
		EXPECT(!spin_is_locked(&inner));
	}
}

#define RESTORED	(SR_SPIE | SR_SPP | SR_SUM | SR_FS)

static void test_status(void)
{
	unsigned long flags, before;

	local_irq_save(flags);	/* no trap changes them on the way */
	before = csr_read(CSR_STATUS) & RESTORED;
	spin_lock_tx(&outer);
	EXPECT((csr_read(CSR_STATUS) & RESTORED) == before);
	if (xtest() && !restarts()) {
		csr_set(CSR_STATUS, RESTORED & ~before);
		csr_clear(CSR_STATUS, RESTORED & before & ~SR_FS);
		EXPECT((csr_read(CSR_STATUS) & RESTORED) != before);
		xabort(OWN_CODE);
	}
	spin_unlock(&outer);
	EXPECT((csr_read(CSR_STATUS) & RESTORED) == before);
	local_irq_restore(flags);
}

/* --- traps ---------------------------------------------------------------- */

/* Both trap, and go on behind. True: it did. */
static noinline bool page_fault(void)
{
	long trapped = 1;

	asm volatile ("1:	lb zero, 0(zero)\n"
		      "	li %0, 0\n"
		      "2:\n"
		      _ASM_EXTABLE(1b, 2b)
		      : "+r" (trapped) : : "memory");
	return trapped;
}

static noinline bool illegal(void)
{
	long trapped = 1;

	asm volatile ("1:	unimp\n"
		      "	li %0, 0\n"
		      "2:\n"
		      _ASM_EXTABLE(1b, 2b)
		      : "+r" (trapped) : : "memory");
	return trapped;
}

/* A trap inside suspends the section, which goes on behind it. */
static void test_faults(void)
{
	const struct form *f;
	unsigned long counted;
	int nested;

	for_each_form(f) {
		for (nested = 0; nested < 2; nested++) {
			counted = scribbled;
			if (nested)
				spin_lock_tx(&outer);
			f->enter();
			scribbled++;
			EXPECT(page_fault());
			scribbled++;
			EXPECT(illegal());
			scribbled++;
			if (!nested)
				EXPECT_INSIDE(f);
			EXPECT(irqs_disabled() == f->irqs_off);
			f->leave();
			if (nested)
				spin_unlock(&outer);
			EXPECT_OUTSIDE(f);
			EXPECT(scribbled == counted + 3);
		}
	}
}

/* What an interrupt writes of what a suspended section has read undoes it. */
static void test_lost_meanwhile(void)
{
	unsigned long before, i;
	bool lost = false;
	int n;

	let_go = true;
	for (n = 0; n < TRIES && !lost; n++) {
		start_timer(100);
		spin_lock_tx(&outer);
		before = READ_ONCE(stirred);
		for (i = 0; i < 1000000 && xtest() && !restarts(); i++)
			if (READ_ONCE(stirred) != before)
				break;
		EXPECT(!xtest() || READ_ONCE(stirred) == before);
		lost = xtest() ? restarts() : spin_is_locked(&outer);
		spin_unlock(&outer);
		hrtimer_cancel(&timer);
		EXPECT(!xtest());
	}
	EXPECT(lost);
	EXPECT(handled != 0);
}

/* --- the stack of a begin whose function has returned ---------------------- */

#define FRAME	64	/* words */

/* Begins a section and returns; how many words of its frame were another's. */
static noinline int enter_and_return(unsigned long pattern)
{
	volatile unsigned long frame[FRAME];
	int i, wrong = 0;

	for (i = 0; i < FRAME; i++)
		frame[i] = pattern ^ i;
	spin_lock_tx(&spin);
	for (i = 0; i < FRAME; i++)
		wrong += frame[i] != (pattern ^ i);
	return wrong;
}

/* Uses the stack where that frame was. */
static noinline unsigned long reuse(unsigned long pattern)
{
	volatile unsigned long frame[2 * FRAME];
	unsigned long sum = 0;
	int i;

	for (i = 0; i < 2 * FRAME; i++)
		frame[i] = ~pattern;
	for (i = 0; i < 2 * FRAME; i++)
		sum += frame[i];
	return sum;
}

/* The frame of a trap goes below it. */
static void test_live_stack(void)
{
	int n, wrong;

	for (n = 0; n < 8; n++) {
		wrong = enter_and_return(0x1122334455667788UL * n);
		if (xtest() && !restarts()) {
			if (n & 1)
				page_fault();
			else
				illegal();
			xabort(OWN_CODE);
		}
		spin_unlock(&spin);
		EXPECT(!wrong);
		EXPECT(!xtest());
	}
}

/* What a later call writes there is undone, also where the machine forgets
 * lines that the stack pointer has passed. */
static void test_early_release(void)
{
	unsigned long flags;
	int n, wrong;

	for (n = 0; n < 8; n++) {
		local_irq_save(flags);
		if (HARDWARE && (n & 1))
			csr_set(CSR_STXCTL, STXCTL_RELEASE);
		wrong = enter_and_return(0x123456789abcdefUL * n);
		if (xtest() && !restarts()) {
			reuse(n);
			xabort(OWN_CODE);
		}
		spin_unlock(&spin);
		if (HARDWARE && (n & 1))
			csr_clear(CSR_STXCTL, STXCTL_RELEASE);
		local_irq_restore(flags);
		EXPECT(!wrong);
		EXPECT(!xtest());
	}
}

/* --- translations ----------------------------------------------------------- */

static int take_pte(pte_t *pte, unsigned long address, void *to)
{
	*(pte_t **)to = pte;
	return 0;
}

/* A page-table entry that a section has written and used is forgotten. */
static void test_translations(void)
{
	struct page *pages[2] = { alloc_page(GFP_KERNEL), alloc_page(GFP_KERNEL) };
	unsigned long *place = NULL;
	pte_t *pte = NULL, old;
	int i;

	for (i = 0; i < 2; i++)
		if (pages[i])
			*(unsigned long *)page_address(pages[i]) = i;
	if (pages[0] && pages[1])
		place = vmap(pages, 1, VM_MAP, PAGE_KERNEL);
	EXPECT(place);
	if (!place)
		goto out;
	apply_to_existing_page_range(&init_mm, (unsigned long)place, PAGE_SIZE, take_pte, &pte);
	old = *pte;
	EXPECT(READ_ONCE(*place) == 0);
	spin_lock_tx(&spin);
	EXPECT(READ_ONCE(*place) == 0);
	if (xtest() && !restarts()) {
		set_pte(pte, pfn_pte(page_to_pfn(pages[1]), PAGE_KERNEL));
		local_flush_tlb_page((unsigned long)place);
		EXPECT(READ_ONCE(*place) == 1);
		xabort(OWN_CODE);
	}
	spin_unlock(&spin);
	EXPECT(pte_val(*pte) == pte_val(old));
	EXPECT(READ_ONCE(*place) == 0);
	vunmap(place);
out:
	for (i = 0; i < 2; i++)
		if (pages[i])
			__free_page(pages[i]);
}

/* --- converted and plain sections exclude each other ------------------------ */

enum kind { OF_SPIN, OF_IRQSAVE, OF_BH, OF_TRY, OF_BIT, OF_CHAIN, OF_READ, OF_WRITE, OF_NESTED, OF_SEQ, OF_DCACHE, KINDS };

static struct {
	volatile unsigned long count;	/* of all, under the lock */
	volatile unsigned long holder;	/* who has taken the lock for real is inside */
} kinds[KINDS] ____cacheline_aligned;

static struct {
	spinlock_t spin, irqsave, bh, try, outer, nested;
	rwlock_t read, write;
	seqlock_t sequence;
	unsigned long bits;
	struct hlist_bl_head chain;
#ifdef CONFIG_COARSE_LOCKS
	dcache_lock_t dcache;
#endif
} excluded;

static void inside(enum kind kind, bool plain)
{
	unsigned long before = kinds[kind].count;
	int i;

	EXPECT(!kinds[kind].holder);
	if (plain) {
		kinds[kind].holder = 1;
		for (i = 0; i < 50; i++)
			cpu_relax();
		kinds[kind].holder = 0;
	}
	kinds[kind].count = before + 1;
}

#define SECTION(kind, by_plain, by_tx, leave)	\
do {						\
	if (plain)				\
		by_plain;			\
	else					\
		by_tx;				\
	inside(kind, plain);			\
	leave;					\
} while (0)

static void one_round(bool plain)
{
	unsigned long flags, found;
	unsigned int seq;

	SECTION(OF_SPIN, spin_lock(&excluded.spin), spin_lock_tx(&excluded.spin), spin_unlock(&excluded.spin));
	SECTION(OF_IRQSAVE, spin_lock_irqsave(&excluded.irqsave, flags), spin_lock_irqsave_tx(&excluded.irqsave, flags),
		spin_unlock_irqrestore(&excluded.irqsave, flags));
	SECTION(OF_BH, spin_lock_bh(&excluded.bh), spin_lock_bh_tx(&excluded.bh), spin_unlock_bh(&excluded.bh));
	SECTION(OF_TRY, while (!spin_trylock(&excluded.try)) cpu_relax(),
		while (!spin_trylock_tx(&excluded.try)) cpu_relax(), spin_unlock(&excluded.try));
	SECTION(OF_BIT, bit_spin_lock(5, &excluded.bits), bit_spin_lock_tx(5, &excluded.bits), bit_spin_unlock(5, &excluded.bits));
	SECTION(OF_CHAIN, hlist_bl_lock(&excluded.chain), hlist_bl_lock_tx(&excluded.chain), hlist_bl_unlock(&excluded.chain));
	SECTION(OF_WRITE, write_lock(&excluded.write), write_lock_tx(&excluded.write), write_unlock(&excluded.write));
	/* An inner lock that is really held undoes the section around it. */
	if (!plain)
		spin_lock_tx(&excluded.outer);
	SECTION(OF_NESTED, spin_lock(&excluded.nested), spin_lock_tx(&excluded.nested), spin_unlock(&excluded.nested));
	if (!plain)
		spin_unlock(&excluded.outer);
#ifdef CONFIG_COARSE_LOCKS
	SECTION(OF_DCACHE, spin_lock(&excluded.dcache), spin_lock_tx(&excluded.dcache), spin_unlock(&excluded.dcache));
#endif
	if (plain) {
		write_lock(&excluded.read);
		inside(OF_READ, true);
		write_unlock(&excluded.read);
		write_seqlock(&excluded.sequence);
		inside(OF_SEQ, true);
		write_sequnlock(&excluded.sequence);
		return;
	}
	read_lock_tx(&excluded.read);
	EXPECT(!kinds[OF_READ].holder);
	read_unlock(&excluded.read);
	do {
		seq = read_seqbegin_tx(&excluded.sequence);
		found = kinds[OF_SEQ].holder;
	} while (read_seqretry_tx(&excluded.sequence, seq));
	EXPECT(!found);
}

static atomic_t waiting, running;
static DECLARE_COMPLETION(done);

static int worker(void *number)
{
	bool plain = (long)number & 1;
	int i;

	atomic_dec(&waiting);
	while (atomic_read(&waiting))
		cpu_relax();
	for (i = 0; i < ROUNDS; i++)
		one_round(plain);
	EXPECT(!xtest());
	if (atomic_dec_and_test(&running))
		complete(&done);
	return 0;
}

/* A thread a processor; every other one takes its locks by the plain functions. */
static void test_exclusion(void)
{
	static struct task_struct *task[NR_CPUS];
	int cpu, threads = num_online_cpus(), plain = 0;
	enum kind kind;
	long n = 0;

	memset(kinds, 0, sizeof(kinds));
	spin_lock_init(&excluded.spin);
	spin_lock_init(&excluded.irqsave);
	spin_lock_init(&excluded.bh);
	spin_lock_init(&excluded.try);
	spin_lock_init(&excluded.outer);
	spin_lock_init(&excluded.nested);
	rwlock_init(&excluded.read);
	rwlock_init(&excluded.write);
	seqlock_init(&excluded.sequence);
	atomic_set(&waiting, threads);
	atomic_set(&running, threads);
	reinit_completion(&done);
	for_each_online_cpu(cpu) {
		plain += n & 1;
		task[cpu] = kthread_create_on_cpu(worker, (void *)n++, cpu, "txselftest/%u");
		if (IS_ERR(task[cpu])) {
			int failed = cpu;

			note(__LINE__, "a thread could not be started");
			for_each_online_cpu(cpu)
				if (cpu < failed)
					kthread_stop(task[cpu]);
			return;
		}
	}
	for_each_online_cpu(cpu)
		wake_up_process(task[cpu]);
	wait_for_completion(&done);
	for (kind = 0; kind < KINDS; kind++) {
		if (kind == OF_DCACHE && !IS_ENABLED(CONFIG_COARSE_LOCKS))
			continue;
		EXPECT(kinds[kind].count == ROUNDS * (kind == OF_READ || kind == OF_SEQ ? plain : threads));
	}
}

/* --- the lock of all dentries ------------------------------------------------ */

#ifdef CONFIG_COARSE_LOCKS
/* Each of two levels plain or converted, elided or not, released in both
 * orders, taken by an attempt or not. */
static void test_recursion(void)
{
	int way;

	for (way = 0; way < 32; way++) {
		bool first_plain = way & 1, second_plain = way & 2, other_order = way & 4;
		bool refuse = way & 8, try = way & 16;

		if (first_plain)
			spin_lock(&one);
		else
			spin_lock_tx(&one);
		if (refuse)
			do_call();
		if (try)
			EXPECT(second_plain ? spin_trylock(&another) : spin_trylock_tx(&another));
		else if (second_plain)
			spin_lock(&another);
		else
			spin_lock_tx(&another);
		EXPECT(dcache_is_locked(&one));
		EXPECT(!(first_plain || refuse) || !xtest());
		if (other_order)
			spin_unlock(&one);
		else
			spin_unlock(&another);
		EXPECT(dcache_is_locked(&one));
		if (other_order)
			spin_unlock(&another);
		else
			spin_unlock(&one);
		EXPECT(!xtest());
		EXPECT(!dcache_is_locked(&one));
	}
}
#endif

/* --- the kernel has found nothing; then a mistake that it must find ----------- */

static unsigned int died;	/* on purpose */

static void test_untainted(void)
{
	EXPECT(!(get_taint() & ~(died ? BIT(TAINT_DIE) : 0)));
}

#ifdef TX_HARDWARE
static struct task_struct *tester;

/* Behind the xend of a release that ended nothing. */
static int on_death(struct notifier_block *unused, unsigned long what, void *data)
{
	struct die_args *args = data;

	if (what != DIE_OOPS || current != tester || !args->regs || args->regs->cause != EXC_INST_ILLEGAL)
		return NOTIFY_DONE;
	died++;
	args->regs->epc += 4;
	return NOTIFY_STOP;
}

/* A release of a free lock is an illegal instruction: four of them, four oopses. */
static void test_double_release(void)
{
	static struct notifier_block block = { .notifier_call = on_death };

	tester = current;
	died = 0;
	register_die_notifier(&block);
	preempt_disable();
	spin_unlock(&spin);
	preempt_disable();
	write_unlock(&rw);
	preempt_disable();
	read_unlock(&rw);
	preempt_disable();
	bit_spin_unlock(3, &word_of_bits);
	unregister_die_notifier(&block);
	EXPECT(died == 4);
}
#endif

/* --- /proc/txselftest ---------------------------------------------------------- */

static struct test {
	const char *name;
	void (*run)(void);
	unsigned int failures, line;
	const char *what, *of;
} tests[] = {
	{ "sections elide", test_elides },
	{ "aborts are undone", test_abort },
	{ "refusals take the lock", test_refusals },
	{ "refusals in nested sections", test_nested_refusals },
	{ "nested sections, both orders of release", test_nesting },
	{ "locks that are held", test_held },
	{ "attempts, readers in readers", test_try_once },
	{ "hash chains keep their bit", test_chain },
	{ "sequence readers", test_sequence },
	{ "inner irqsave", test_inner_irqsave },
	{ "sstatus after an abort", test_status },
	{ "faults in sections", test_faults },
	{ "a section that lost while suspended", test_lost_meanwhile },
	{ "the frame of a trap", test_live_stack },
	{ "early release above the begin", test_early_release },
	{ "translations after an abort", test_translations },
	{ "converted against plain sections", test_exclusion },
#ifdef CONFIG_COARSE_LOCKS
	{ "the lock of all dentries", test_recursion },
#endif
	{ "the kernel is untainted", test_untainted },
#ifdef TX_HARDWARE
	{ "a release of a free lock traps", test_double_release },
#endif
};

static DEFINE_MUTEX(one_run);

static int show(struct seq_file *m, void *v)
{
	const struct test *t;
	int failed = 0;

	for (t = tests; t < tests + ARRAY_SIZE(tests); t++) {
		if (!t->failures) {
			seq_printf(m, "%s: ok\n", t->name);
			continue;
		}
		failed++;
		seq_printf(m, "%s: FAILED %u times, first in line %u: %s (%s)\n", t->name, t->failures,
			   t->line, t->what, t->of);
	}
	if (failed)
		seq_printf(m, "%d of %zu failed\n", failed, ARRAY_SIZE(tests));
	else
		seq_printf(m, "all %zu passed\n", ARRAY_SIZE(tests));
	return 0;
}

static int open(struct inode *inode, struct file *file)
{
	struct test *t;

	mutex_lock(&one_run);
	for (t = tests; t < tests + ARRAY_SIZE(tests); t++) {
		atomic_set(&noted, 0);
		subject = t->name;
		migrate_disable();	/* timers are this processor's */
		t->run();
		migrate_enable();
		t->failures = atomic_read(&noted);
		t->line = notes[0].line;
		t->what = notes[0].what;
		t->of = notes[0].of;
	}
	mutex_unlock(&one_run);
	return single_open(file, show, NULL);
}

static const struct proc_ops ops = {
	.proc_open = open, .proc_read = seq_read, .proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init selftest_init(void)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, "riscv,plic0");

	device = node ? of_iomap(node, 0) : NULL;
	of_node_put(node);
	if (!device)
		return -ENODEV;
	return proc_create("txselftest", 0400, NULL, &ops) ? 0 : -ENOMEM;
}
late_initcall(selftest_init);
