/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How an atomic section is written, chosen when the program is compiled:
 *
 *     -DSTAMP_SEQUENTIAL   nothing; for one thread
 *     -DSTAMP_MUTEX        one pthread mutex for all sections
 *     -DSTAMP_GNU_TM       gcc -fgnu-tm: __transaction_atomic
 *     -DSTAMP_TIMES        calls of measure/times.c; for one thread
 *     -DSTAMP_TANDEM       tandem-cc: TANDEM_ATOMIC functions, tandem_atomic blocks
 *
 * A section is a function of its own, or a block:
 *
 *     SECTION_FUNCTION long take(struct pool *pool) {      BLOCK_SECTION {
 *       long left;                                           pool->left -= 1;
 *       SECTION {                                          }
 *         left = pool->left--;
 *       }
 *       return left;
 *     }
 *
 * A section function has nothing but its section in it. Nothing but return leads out of a section
 * before its end.
 *
 * SAFE stands before every function that sections call. PRIVATE stands before functions that
 * sections call for computations of their own thread: they work on memory that no other thread
 * writes, or whose values the section checks afterwards, and need not be undone. They are in files
 * named NAME_private.c, which tandem-cc gets as object files (stamp.toml is their catalogue).
 */
#pragma once

/* Between stamp_enter and stamp_leave, however it is left. */
#define STAMP_BRACKETED                                                                            \
  for (bool stamp_inside __attribute__((cleanup(stamp_leave))) = stamp_enter(); stamp_inside;      \
       stamp_inside = false)

#if defined(STAMP_TIMES)
#define STAMP_VARIANT "times"
#include <stdbool.h>
/* Of measure/times.c. */
bool stamp_enter(void);
void stamp_leave(const bool *inside);
#define SECTION_FUNCTION
#define SECTION STAMP_BRACKETED
#define BLOCK_SECTION STAMP_BRACKETED
#define SAFE
#define PRIVATE

#elif defined(STAMP_SEQUENTIAL)
#define STAMP_VARIANT "sequential"
#define SECTION_FUNCTION
#define SECTION
#define BLOCK_SECTION
#define SAFE
#define PRIVATE

#elif defined(STAMP_MUTEX)
#define STAMP_VARIANT "mutex"
#include <pthread.h>
#include <stdbool.h>

/* The one lock, on cache lines of its own. */
struct stamp_lock {
  _Alignas(128) pthread_mutex_t mutex;
};
extern struct stamp_lock stamp_lock;

static inline bool stamp_enter(void) {
  pthread_mutex_lock(&stamp_lock.mutex);
  return true;
}
static inline void stamp_leave(const bool *inside) {
  (void)inside;
  pthread_mutex_unlock(&stamp_lock.mutex);
}
#define SECTION_FUNCTION
#define SECTION STAMP_BRACKETED
#define BLOCK_SECTION STAMP_BRACKETED
#define SAFE
#define PRIVATE

#elif defined(STAMP_GNU_TM)
#define STAMP_VARIANT "gnu-tm"
/* Beginning a transaction returns twice, which spoils the registers of the function around it. */
#define SECTION_FUNCTION __attribute__((noinline))
#define SECTION __transaction_atomic
#define BLOCK_SECTION __transaction_atomic
#define SAFE __attribute__((transaction_safe))
#define PRIVATE __attribute__((transaction_pure))

#elif defined(STAMP_TANDEM)
#define STAMP_VARIANT "tandem"
#include <tandem/tandem.h>
#define SECTION_FUNCTION TANDEM_ATOMIC
#define SECTION
#define BLOCK_SECTION tandem_atomic
#define SAFE
#define PRIVATE

#else
#error "define STAMP_SEQUENTIAL, STAMP_TIMES, STAMP_MUTEX, STAMP_GNU_TM or STAMP_TANDEM"
#endif

/* Where speculative executions are counted (-DSTAMP_ATTEMPTS), each section begins with this. */
#if defined(STAMP_ATTEMPTS)
PRIVATE void stamp_attempt(void);
#define ATTEMPT() stamp_attempt()
#else
#define ATTEMPT() ((void)0)
#endif
