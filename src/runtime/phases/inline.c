/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Compiled to bitcode only: entering and leaving sections in the phase of locks, without a call.
 */
#include "runtime/phases/inline.h"

#include <errno.h>
#include <pthread.h>
#include <sys/single_threaded.h>

#define TANDEM_INLINE __attribute__((visibility("hidden"), always_inline))
#define TANDEM_PART static inline __attribute__((always_inline))
#define TANDEM_LIKELY(x) __builtin_expect((x), 1)

/* An outermost section, in the phase of locks; 0: it is nested, or the phase is another one. */
TANDEM_PART int enter_locks(struct tandem_phase_mark *mark, uint32_t part) {
  if (!TANDEM_LIKELY(mark->state == TANDEM_STATE_OUTSIDE))
    return 0;
  /* Release: who sees another part sees what the section of the one before did. */
  __atomic_store_n(&mark->part, part, __ATOMIC_RELEASE);
  /* Release: who sees the state sees the part. */
  __atomic_store_n(&mark->state, TANDEM_STATE_LOCKS, __ATOMIC_RELEASE);
  /* The processor may still load the phase before others see the mark: who changes the phase makes
   * every thread pass a fence before it reads marks. */
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  /* Acquire: what transactions of the phase before did is seen. */
  if (TANDEM_LIKELY(__atomic_load_n(&_TANDEM_phase[part], __ATOMIC_ACQUIRE) ==
                    TANDEM_PHASE_LOCKS)) {
    /* One instruction where load and store are alike. */
    __atomic_store_n(&mark->entered[part],
                     __atomic_load_n(&mark->entered[part], __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    return 1;
  }
  __atomic_store_n(&mark->state, TANDEM_STATE_OUTSIDE, __ATOMIC_RELAXED);
  return 0;
}

TANDEM_PART int is_inside(const struct tandem_phase_mark *mark) {
  return mark->state > TANDEM_STATE_OUTSIDE;
}

TANDEM_PART uint32_t nest(struct tandem_phase_mark *mark) {
  const uint64_t state = mark->state + TANDEM_NESTED;
  __atomic_store_n(&mark->state, state, __ATOMIC_RELAXED);
  return (uint32_t)state == TANDEM_STATE_LOCKS;
}

TANDEM_INLINE uint32_t _TANDEM_inline_phase_enter(const struct tandem_section *section,
                                                  uint32_t part) {
  struct tandem_phase_mark *mark = &_TANDEM_phase_mark;
  if (TANDEM_LIKELY(enter_locks(mark, part)))
    return 1;
  return is_inside(mark) ? nest(mark) : _TANDEM_phase_enter(section, part);
}

/* Of a transaction, or nested: apart, so that the common case is one comparison. */
static __attribute__((noinline, cold)) void leave_otherwise(const struct tandem_section *section) {
  struct tandem_phase_mark *mark = &_TANDEM_phase_mark;
  if (mark->state == TANDEM_STATE_TRANSACTIONS)
    __atomic_store_n(&mark->state, TANDEM_STATE_OUTSIDE, __ATOMIC_RELEASE);
  else if (mark->state >= TANDEM_NESTED)
    __atomic_store_n(&mark->state, mark->state - TANDEM_NESTED, __ATOMIC_RELAXED);
  else
    _TANDEM_phase_stray(section);
}

TANDEM_INLINE void _TANDEM_inline_phase_leave(const struct tandem_section *section) {
  struct tandem_phase_mark *mark = &_TANDEM_phase_mark;
  if (TANDEM_LIKELY(mark->state == TANDEM_STATE_LOCKS))
    /* Release: what the section did is over for whoever finds the mark off. */
    __atomic_store_n(&mark->state, TANDEM_STATE_OUTSIDE, __ATOMIC_RELEASE);
  else
    leave_otherwise(section);
}

TANDEM_PART void hold(struct tandem_phase_mark *mark, const struct tandem_section *section) {
  if (TANDEM_LIKELY(mark->section == section && mark->runtime == section->table->runtime &&
                    mark->depth == 0)) {
    struct tandem_colour_state *colour = mark->colour;
    uint32_t seen = 0;
    if (TANDEM_LIKELY(__atomic_compare_exchange_n(&colour->word, &seen, 1, 0, __ATOMIC_SEQ_CST,
                                                  __ATOMIC_RELAXED))) {
      __atomic_store_n(&colour->acquired, colour->acquired + 1, __ATOMIC_RELAXED);
      mark->depth = 1;
      return;
    }
  }
  _TANDEM_phase_hold(section);
}

TANDEM_INLINE uint32_t _TANDEM_inline_phase_enter_colours(const struct tandem_section *section,
                                                          uint32_t part) {
  struct tandem_phase_mark *mark = &_TANDEM_phase_mark;
  if (TANDEM_LIKELY(enter_locks(mark, part))) {
    hold(mark, section);
    return 1;
  }
  if (is_inside(mark))
    return nest(mark);
  const uint32_t locks = _TANDEM_phase_enter(section, part);
  if (locks != 0)
    _TANDEM_phase_hold(section);
  return locks;
}

TANDEM_INLINE void _TANDEM_inline_phase_leave_colours(const struct tandem_section *section) {
  struct tandem_phase_mark *mark = &_TANDEM_phase_mark;
  if (!TANDEM_LIKELY(mark->state == TANDEM_STATE_LOCKS)) {
    _TANDEM_inline_phase_leave(section);
    return;
  }
  if (TANDEM_LIKELY(mark->section == section && mark->depth == 1)) {
    struct tandem_colour_state *colour = mark->colour;
    mark->depth = 0;
    /* Release: partner of the next holder's locked instruction. */
    if (!TANDEM_LIKELY(__atomic_exchange_n(&colour->word, 0, __ATOMIC_ACQ_REL) != 2))
      _TANDEM_phase_wake(colour);
  } else {
    _TANDEM_phase_release(section);
  }
  __atomic_store_n(&mark->state, TANDEM_STATE_OUTSIDE, __ATOMIC_RELEASE);
}

/* In a process with one thread there is no wait to be measured, and to lock needs no locked
 * instruction there, which to try does. */
TANDEM_INLINE int _TANDEM_inline_phase_lock(void *mutex) {
  pthread_mutex_t *lock = (pthread_mutex_t *)mutex;
  if (__libc_single_threaded)
    return pthread_mutex_lock(lock);
  const int error = pthread_mutex_trylock(lock);
  return TANDEM_LIKELY(error != EBUSY) ? error : _TANDEM_phase_wait(mutex);
}
