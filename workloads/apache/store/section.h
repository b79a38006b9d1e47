/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How an atomic section of the store is written, chosen when it is compiled:
 *
 *     -DSTORE_SEQUENTIAL   nothing; for one thread
 *     -DSTORE_MUTEX        one pthread mutex of the store's
 *     neither              tandem_atomic, for tandem-cc, which enforces it as it is told
 *
 *     SECTION(store) { return take(store); }
 *
 * Only return leads out of a section before its end.
 */
#pragma once

#if defined(STORE_SEQUENTIAL)
#define STORE_VARIANT "sequential"
#define SECTION(store) (void)(store);

#elif defined(STORE_MUTEX)
#define STORE_VARIANT "mutex"
#include <pthread.h>
#include <stddef.h>

static inline pthread_mutex_t *section_enter(pthread_mutex_t *mutex) {
  pthread_mutex_lock(mutex);
  return mutex;
}
static inline void section_leave(pthread_mutex_t *const *mutex) {
  if (*mutex != NULL)
    pthread_mutex_unlock(*mutex);
}
/* The loop runs once; what holds the mutex gives it back however the section is left. */
#define SECTION(store)                                                                             \
  for (pthread_mutex_t * section_held                                                              \
           __attribute__((cleanup(section_leave))) = section_enter(&(store)->mutex);               \
       section_held != NULL; pthread_mutex_unlock(section_held), section_held = NULL)

#else
#define STORE_VARIANT "tandem"
#include <tandem/tandem.h>
#define SECTION(store) tandem_atomic
#endif
