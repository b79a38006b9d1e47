/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Compiled to bitcode only: entering and leaving sections in the phase of locks, without a call.
 */
#include "runtime/phases/inline.h"

#include <errno.h>
#include <pthread.h>

#define TANDEM_INLINE __attribute__((visibility("hidden"), always_inline)) inline
#define TANDEM_LIKELY(x) __builtin_expect((x), 1)

TANDEM_INLINE uint32_t _TANDEM_inline_phase_enter(const struct tandem_section *section) {
  struct tandem_phase_mark *mark = &_TANDEM_phase_mark;
  if (TANDEM_LIKELY(mark->state == TANDEM_STATE_OUTSIDE)) {
    __atomic_store_n(&mark->state, TANDEM_STATE_LOCKS, __ATOMIC_RELAXED);
    /* The processor may still load the phase before others see the mark: who changes the phase
     * makes every thread pass a fence before it reads marks. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    /* Acquire: what transactions of the phase before did is seen. */
    if (TANDEM_LIKELY(__atomic_load_n(&_TANDEM_phase, __ATOMIC_ACQUIRE) == TANDEM_PHASE_LOCKS)) {
      __atomic_store_n(&mark->entered, mark->entered + 1, __ATOMIC_RELAXED);
      return 1;
    }
    __atomic_store_n(&mark->state, TANDEM_STATE_OUTSIDE, __ATOMIC_RELAXED);
  } else if (TANDEM_LIKELY(mark->state != TANDEM_STATE_NEW)) {
    __atomic_store_n(&mark->state, mark->state + TANDEM_NESTED, __ATOMIC_RELAXED);
    return (uint32_t)mark->state == TANDEM_STATE_LOCKS;
  }
  return _TANDEM_phase_enter(section);
}

TANDEM_INLINE void _TANDEM_inline_phase_leave(const struct tandem_section *section) {
  struct tandem_phase_mark *mark = &_TANDEM_phase_mark;
  if (TANDEM_LIKELY(mark->state == TANDEM_STATE_LOCKS) || mark->state == TANDEM_STATE_TRANSACTIONS)
    /* Release: what the section did is over for whoever finds the mark off. */
    __atomic_store_n(&mark->state, TANDEM_STATE_OUTSIDE, __ATOMIC_RELEASE);
  else if (mark->state >= TANDEM_NESTED)
    __atomic_store_n(&mark->state, mark->state - TANDEM_NESTED, __ATOMIC_RELAXED);
  else
    _TANDEM_phase_stray(section);
}

TANDEM_INLINE uint32_t _TANDEM_inline_phase_enter_colours(const struct tandem_section *section) {
  const uint32_t locks = _TANDEM_inline_phase_enter(section);
  if (TANDEM_LIKELY(locks != 0))
    _TANDEM_phase_hold(section);
  return locks;
}

TANDEM_INLINE void _TANDEM_inline_phase_leave_colours(const struct tandem_section *section) {
  struct tandem_phase_mark *mark = &_TANDEM_phase_mark;
  if (TANDEM_LIKELY(mark->state == TANDEM_STATE_LOCKS)) {
    _TANDEM_phase_release(section);
    __atomic_store_n(&mark->state, TANDEM_STATE_OUTSIDE, __ATOMIC_RELEASE);
    return;
  }
  if ((uint32_t)mark->state == TANDEM_STATE_LOCKS)
    _TANDEM_phase_release(section);
  _TANDEM_inline_phase_leave(section);
}

TANDEM_INLINE int _TANDEM_inline_phase_lock(void *mutex) {
  const int error = pthread_mutex_trylock((pthread_mutex_t *)mutex);
  return TANDEM_LIKELY(error != EBUSY) ? error : _TANDEM_phase_wait(mutex);
}
