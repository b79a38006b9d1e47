/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a program built with -ftandem-check-effects and the recorder, libtandem_observe, share
 * (docs/check-effects.md). Not for use by hand. One instrumented program or library per process.
 *
 * Any thread may call, once _TANDEM_observe_begin has returned. Before, and in a signal handler
 * that interrupts one of these functions, calls record nothing. No call returns an error. What the
 * recorder cannot do ends the process with one line on standard error and status 2: a second part
 * of the process that begins, more than 8191 sections, sections nested more than 4095 deep, a file
 * of TANDEM_OBSERVE that cannot be written. Without memory for its tables the process ends by
 * SIGABRT. Sizes are bytes.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `how` of an access. */
#define TANDEM_OBSERVE_READS 1U
#define TANDEM_OBSERVE_WRITES 2U

struct tandem_observe_global {
  void *address;
  uint64_t size;
  uint64_t label;
};

// clang-format off
/* The program gives the recorder a table, as text: one fact a line, numbers in decimal. What follows
 * the last number of a line is free text.
 *
 *   section NUMBER NAME                from 1, ascending
 *   label NUMBER KIND OUTSIDE NAME     an object. KIND: g global, t thread-local, h heap, s stack,
 *                                      f memory of code outside, whose addresses nobody tells,
 *                                      n what the analysis does not tell apart (`part`). OUTSIDE: 1
 *                                      where code outside may know it, so that effects on object 0
 *                                      are on it too. 0 itself is not listed
 *   fold LABEL BEGIN END PERIOD        an offset in [BEGIN, END) counts as the one of the first
 *                                      period; in the order in which they apply
 *   part LABEL OTHER OFFSET            where the analysis does not tell objects apart: offsets of
 *                                      LABEL, OFFSET added, may be those of OTHER, which has the
 *                                      effects
 *   effect SECTION LABEL BEGIN END H   the section touches the folded bytes [BEGIN, END); H: r, w
 *   edge SECTION SECTION               they conflict, and the analysis says so
 *   set NUMBER SECTION...              from 1, ascending: sections that an instruction lies in
 *   site NUMBER SET PLACE              from 1, ascending: an access; SET 0: in no section
 */
// clang-format on

/* Before all else in the program, and before it has a second thread. `table` and `globals` are read
 * during the call only. `globals` ends with a null address; `thread_locals`, which the recorder
 * calls once in each thread, tells the thread's thread-local variables by
 * _TANDEM_observe_allocated. */
void _TANDEM_observe_begin(const char *table, const struct tandem_observe_global *globals,
                           void (*thread_locals)(void));
/* The instruction `site` touches [address, address + size). */
void _TANDEM_observe_access(const void *address, uint64_t size, uint32_t how, uint32_t site);
/* Memory that begins to be an object; size 0: what malloc says of it. */
void _TANDEM_observe_allocated(const void *address, uint64_t size, uint64_t label);
/* From `address` to the end of its object memory becomes another: it leaves a pool of the program's
 * own, or goes back to one. */
void _TANDEM_observe_renamed(const void *address, uint64_t label);
/* Memory that ends; size 0: what malloc says of it. Null is nothing. */
void _TANDEM_observe_released(const void *address, uint64_t size);
/* The calling thread runs a call from inside the sections of a set, until it restores the depth
 * that it had before. */
uint32_t _TANDEM_observe_depth(void);
void _TANDEM_observe_push(uint32_t set);
void _TANDEM_observe_restore(uint32_t depth);
/* From now on there may be another thread. */
void _TANDEM_observe_threads(void);

#ifdef __cplusplus
}
#endif
