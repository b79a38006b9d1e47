/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What our kernel files ask of the kernel's headers, for a program of its own. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint16_t u16;
typedef uint32_t u32;
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x) *)&(x) = (value))
#define smp_store_release(place, value) __atomic_store_n(place, value, __ATOMIC_RELEASE)
#define cpu_relax() __asm__ volatile("nop" : : : "memory")
#define __acquires(x)
#define __releases(x)
#define __lockfunc
#define __cond_lock(lock, taken) (taken)
#define EXPORT_SYMBOL(name)
#define typecheck(type, x) ((void)sizeof((type *)0 == &(x)))
