/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How a critical section is written, chosen when the program is compiled:
 *
 *     -DMICRO_SEQUENTIAL   nothing; for one thread
 *     -DMICRO_MUTEX        one pthread mutex for all sections
 *     -DMICRO_GNU_TM       gcc -fgnu-tm: __transaction_atomic
 *     -DMICRO_TANDEM       tandem-cc: tandem_atomic
 */
#pragma once

#include <pthread.h>

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
#elif defined(MICRO_TANDEM)
#include <tandem/tandem.h>
#define MICRO_VARIANT "tandem"
#define SECTION tandem_atomic {
#define SECTION_END }
#define SAFE
#else
#error "define MICRO_SEQUENTIAL, MICRO_MUTEX, MICRO_GNU_TM or MICRO_TANDEM"
#endif
