/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How a critical section is written, chosen when the program is compiled:
 *
 *     -DMICRO_SEQUENTIAL      nothing; for one thread
 *     -DMICRO_MUTEX           one pthread mutex for all sections
 *     -DMICRO_GNU_TM          gcc -fgnu-tm: __transaction_atomic
 *     -DMICRO_TANDEM          tandem-cc: tandem_atomic
 *     -DMICRO_NOREC_BY_HAND   norec.h, a call for each shared access
 *
 * For the last one, and nothing to the others: READ, WRITE and ADD around words that sections
 * share, ALLOCATE and FREE in sections, SOLO around what only one thread runs but calls what is in
 * sections, THREAD_START at the begin of a thread. A word that does not change while it can be
 * reached (CONSTANT) and a new object before it is linked are plain.
 *
 * EMPTY_SECTION is a section in which nothing happens. gcc deletes such a transaction, also around
 * a call of a function that is transaction_pure, so its begin and its end are called by hand.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

#if defined(MICRO_SEQUENTIAL)
#define MICRO_VARIANT "sequential"
#define SECTION
#define SECTION_END
#define SAFE
#elif defined(MICRO_MUTEX)
#define MICRO_VARIANT "mutex"
extern pthread_mutex_t micro_mutex;
#define SECTION                                                                                    \
  pthread_mutex_lock(&micro_mutex);                                                                \
  {
#define SECTION_END                                                                                \
  }                                                                                                \
  pthread_mutex_unlock(&micro_mutex);
#define SAFE
#elif defined(MICRO_GNU_TM)
#define MICRO_VARIANT "gnu-tm"
#define SECTION __transaction_atomic {
#define SECTION_END }
#define SAFE __attribute__((transaction_safe))
/* Two calls, the first with the properties that gcc passes for a section of one write: there is
 * code with barriers and without, and it neither cancels nor becomes irrevocable. What begin
 * returns is not looked at, as both codes are the same. No other call or access is included. */
enum { MICRO_PROPERTIES = 0x1 | 0x2 | 0x8 | 0x20 };
uint32_t _ITM_beginTransaction(uint32_t properties, ...) __attribute__((returns_twice));
void _ITM_commitTransaction(void);
#define EMPTY_SECTION                                                                              \
  (void)_ITM_beginTransaction(MICRO_PROPERTIES);                                                   \
  _ITM_commitTransaction();
#elif defined(MICRO_TANDEM)
#include <tandem/tandem.h>
#define MICRO_VARIANT "tandem"
#define SECTION tandem_atomic {
#define SECTION_END }
#define SAFE
#elif defined(MICRO_NOREC_BY_HAND)
#include "norec.h"
#define MICRO_VARIANT "norec-by-hand"
#define SECTION                                                                                    \
  (void)__builtin_setjmp(norec_self->restart);                                                     \
  norec_begin();                                                                                   \
  {
#define SECTION_END                                                                                \
  }                                                                                                \
  norec_commit();
#define SAFE
#else
#error "define MICRO_SEQUENTIAL, MICRO_MUTEX, MICRO_GNU_TM, MICRO_TANDEM or MICRO_NOREC_BY_HAND"
#endif

#if defined(MICRO_NOREC_BY_HAND)
#define READ(place) ((__typeof__(place))norec_read((const norec_word *)&(place)))
#define WRITE(place, value)                                                                        \
  do {                                                                                             \
    _Static_assert(sizeof(place) == sizeof(norec_word), "a word");                                 \
    __typeof__(place) micro_value = (value);                                                       \
    norec_write((norec_word *)&(place), (norec_word)micro_value);                                  \
  } while (0)
#define ADD(place, by) WRITE(place, READ(place) + (by))
#define ALLOCATE norec_malloc
#define FREE norec_free
#define SOLO SECTION
#define SOLO_END SECTION_END
#define THREAD_START norec_thread_start()
typedef long micro_flag; /* a word */
#else
#define READ(place) (place)
#define WRITE(place, value) ((place) = (value))
#define ADD(place, by) ((place) += (by))
#define ALLOCATE malloc
#define FREE free
#define SOLO {
#define SOLO_END }
#define THREAD_START ((void)0)
typedef int micro_flag;
#endif

#if !defined(EMPTY_SECTION)
#define EMPTY_SECTION                                                                              \
  SECTION                                                                                          \
  SECTION_END
#endif
