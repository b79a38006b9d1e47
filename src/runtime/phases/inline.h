/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Phases of a program under the hybrid plan, as the code that the pass links into it (phases.bc,
 * from inline.c) and libtandem.so share them. Not installed: programs never name these.
 *
 * A program has parts: sections of different ones neither conflict nor acquire a lock in common, so
 * that each part is in a phase of its own. Its sections hold locks, or they are transactions (and
 * colours). The locks are the program's own where these have been converted, else the sections'
 * colours. A thread says that it is in a section by its own mark, then looks at the phase; who
 * changes the phase stores it, has a fence passed by every thread, then looks at the marks
 * (phases.cc).
 */
#pragma once

#include <stdint.h>
#include <tandem/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* _TANDEM_phase[part]. Only in the first one does a section enter without a call. */
enum tandem_phase {
  TANDEM_PHASE_LOCKS = 0,
  TANDEM_PHASE_TRANSACTIONS = 1,
  TANDEM_PHASE_TO_TRANSACTIONS = 2, /* sections hold locks; the next that enters ends this phase */
  TANDEM_PHASE_TO_LOCKS = 3,        /* the same, of transactions */
  TANDEM_PHASE_CHANGING = 4         /* no section begins */
};

enum tandem_phase_state {
  TANDEM_STATE_NEW = 0, /* a thread that has entered nothing yet */
  TANDEM_STATE_OUTSIDE = 1,
  TANDEM_STATE_LOCKS = 2, /* in a section that holds locks */
  TANDEM_STATE_TRANSACTIONS = 3
};

/* The first members of a colour (irrevocable/colours.h). */
struct tandem_colour_state {
  uint32_t word; /* 0: free, 1: held, 2: held with waiters */
  uint32_t flags;
  uint32_t acquired;
};

/* Written by its own thread only; others read `state`, `part` and `entered`. */
struct tandem_phase_mark {
  uint64_t state; /* tandem_phase_state, and TANDEM_NESTED for each section but the outermost */
  uint32_t
      part; /* of the outermost section; written before `state` says that the thread is in it */
  /* The thread's last section that held its colours in the phase of locks, where that was one
   * colour, else null; the runtime's state of its output, which tells an output from one at the
   * same place; the colour. Looking it up in the output is a chain of loads, which a locked
   * instruction before them does not let overlap with anything. */
  const struct tandem_section *section;
  const void *runtime;
  struct tandem_colour_state *colour;
  uint32_t depth; /* sections with colours that the thread is in (irrevocable/colours.h) */
  uint64_t entered[TANDEM_PARTS]; /* outermost sections so far */
};
#define TANDEM_NESTED ((uint64_t)1 << 32)

extern uint32_t _TANDEM_phase[TANDEM_PARTS];
extern __thread struct tandem_phase_mark _TANDEM_phase_mark
    __attribute__((tls_model("initial-exec")));

/* Of libtandem.so: what the inline versions do not do themselves. enter: an outermost section.
 * stray: a section that was not entered is left; ends the process. wait: EBUSY was the answer to an
 * attempt to acquire the pthread mutex; acquires it, and returns what pthread_mutex_lock does.
 * hold, release: the colours of an outermost section that is entered and left in the phase of
 * locks. wake: those that wait for a colour which has been released. */
uint32_t _TANDEM_phase_enter(const struct tandem_section *section, uint32_t part);
void _TANDEM_phase_hold(const struct tandem_section *section);
void _TANDEM_phase_release(const struct tandem_section *section);
void _TANDEM_phase_wake(struct tandem_colour_state *colour);
void _TANDEM_phase_stray(const struct tandem_section *section);
int _TANDEM_phase_wait(void *mutex);

/* Enters a section of a part of the program. Result: 1: it runs its plain code with the program's
 * locks; 0: it is enforced. leave: once it has run either way. */
uint32_t _TANDEM_inline_phase_enter(const struct tandem_section *section, uint32_t part);
void _TANDEM_inline_phase_leave(const struct tandem_section *section);
/* The same for a section that holds its colours in the phase of locks. */
uint32_t _TANDEM_inline_phase_enter_colours(const struct tandem_section *section, uint32_t part);
void _TANDEM_inline_phase_leave_colours(const struct tandem_section *section);
/* As pthread_mutex_lock. */
int _TANDEM_inline_phase_lock(void *mutex);

#ifdef __cplusplus
}
#endif
