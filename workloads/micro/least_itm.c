/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The least that a library under gcc -fgnu-tm can do with Intel's RTM: what bench/hardware compares
 * with, preloaded before a libitm, to show what calls, XBEGIN and XEND cost by themselves. Each
 * transaction is the elision of one lock; its code is the uninstrumented one, also where the lock
 * is taken. No cancelling, nesting only in hardware, no allocation that is undone outside it: for
 * the micro-benchmarks, and nothing else.
 *
 * With COUNTED it also does the least for what GCC's library leaves out and ours does not: it
 * counts the transactions of a thread, looks whether the thread is in one that is not in hardware,
 * and refuses an end outside of a transaction, where XEND would fault without a word.
 *
 * Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, chapter on TSX, lock
 * elision. The ABI: Intel's Transactional Memory Compiler and Runtime ABI, 5.7.
 */
#include <immintrin.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

enum { RUN_UNINSTRUMENTED = 2, ATTEMPTS = 6, LOCKED = 1 };

static _Alignas(128) atomic_uint taken;

/* Compilers know the name with variable arguments, which would cost instructions. */
uint32_t begin(uint32_t properties) __asm__("_ITM_beginTransaction");
void commit(void) __asm__("_ITM_commitTransaction");

#ifdef COUNTED
static __thread struct thread {
  uint32_t depth; /* 1 while it has the lock */
  uint64_t begins;
} own, *current __attribute__((tls_model("initial-exec")));
#endif

static __attribute__((noinline)) uint32_t begin_again(unsigned status) {
#ifdef COUNTED
  current = &own;
#endif
  for (int attempt = 1; attempt < ATTEMPTS; ++attempt) {
    if ((status & (_XABORT_RETRY | _XABORT_CONFLICT | _XABORT_EXPLICIT)) == 0)
      break;
    while (atomic_load_explicit(&taken, memory_order_relaxed) != 0)
      _mm_pause();
    status = _xbegin();
    if (status == _XBEGIN_STARTED) {
      if (atomic_load_explicit(&taken, memory_order_relaxed) != 0)
        _xabort(LOCKED);
      return RUN_UNINSTRUMENTED;
    }
  }
  while (atomic_exchange(&taken, 1) != 0)
    while (atomic_load_explicit(&taken, memory_order_relaxed) != 0)
      _mm_pause();
#ifdef COUNTED
  current->depth = 1;
#endif
  return RUN_UNINSTRUMENTED;
}

uint32_t begin(uint32_t properties) {
  (void)properties;
#ifdef COUNTED
  struct thread *self = current;
  if (__builtin_expect(self == 0 || self->depth != 0, 0))
    return begin_again(_XABORT_RETRY);
  ++*(volatile uint64_t *)&self->begins;
#endif
  const unsigned status = _xbegin();
  if (__builtin_expect(status != _XBEGIN_STARTED, 0))
    return begin_again(status);
  if (__builtin_expect(atomic_load_explicit(&taken, memory_order_relaxed) != 0, 0))
    _xabort(LOCKED);
  return RUN_UNINSTRUMENTED;
}

/* Whoever has the lock is not in hardware. */
void commit(void) {
#ifdef COUNTED
  struct thread *self = current;
  if (__builtin_expect(self->depth == 0, 1)) {
    if (__builtin_expect(!_xtest(), 0))
      abort();
    _xend();
    return;
  }
  self->depth = 0;
#else
  if (__builtin_expect(atomic_load_explicit(&taken, memory_order_relaxed) == 0, 1)) {
    _xend();
    return;
  }
#endif
  atomic_store_explicit(&taken, 0, memory_order_release);
}
