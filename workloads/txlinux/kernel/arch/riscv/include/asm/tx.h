/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hardware transactions of the machine: instructions, control registers,
 * causes. The machine's own description is docs/machine/metatm.md.
 *
 * xbegin rd   outermost: a checkpoint of the registers, rd = 0. After an
 *             abort the same instruction answers again:
 *               rd > 0   running (restarts so far << 8 | cause)
 *               rd < 0   not running (-cause): the section takes its lock
 *             Inside: one level more, rd = 0.
 * xend        one level less; the outermost commits. Illegal outside.
 * xabort rs1  undoes everything.
 * xtest rd    the number of levels.
 */
#ifndef _ASM_RISCV_TX_H
#define _ASM_RISCV_TX_H

#define CSR_STXH	0x5c0	/* what the last trap has suspended, or 0 */
#define CSR_STXSP	0x5c1	/* the lower of the trapped sp and its begin's */

#define TX_BUSY		2	/* xabort: a lock inside is taken */
#define TX_LIMIT	6	/* restarts are used up */

#if defined(CONFIG_TXLINUX) && !defined(CONFIG_TXLINUX_STUB)
#define TX_HARDWARE	1
#endif

#ifndef __ASSEMBLY__

#include <linux/compiler.h>

#ifdef TX_HARDWARE

static __always_inline long xbegin(void)
{
	long answer;

	asm volatile (".insn i CUSTOM_0, 0, %0, x0, 0" : "=r" (answer) : : "memory");
	return answer;
}

static __always_inline void xend(void)
{
	asm volatile (".insn i CUSTOM_0, 1, x0, x0, 0" : : : "memory");
}

static __always_inline void xabort(long cause)
{
	asm volatile (".insn i CUSTOM_0, 2, x0, %0, 0" : : "r" (cause) : "memory");
}

static __always_inline long xtest(void)
{
	long depth;

	asm volatile (".insn i CUSTOM_0, 5, %0, x0, 0" : "=r" (depth) : : "memory");
	return depth;
}

#else	/* every section takes its lock */

static __always_inline long xbegin(void)		{ return -TX_LIMIT; }
static __always_inline void xend(void)			{ }
static __always_inline void xabort(long cause)		{ }
static __always_inline long xtest(void)			{ return 0; }

#endif
#endif /* __ASSEMBLY__ */
#endif /* _ASM_RISCV_TX_H */
