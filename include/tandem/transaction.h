/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Tandem's transactions for programs that gcc, clang or tandem-cc compile: C11 and C++17. Link with
 * -ltandem_tm, which is the same libitm.so.1 that runs `gcc -fgnu-tm` programs, so all of them may
 * work on the same data. docs/api.md is the guide.
 *
 * !!! A plain compiler does not instrument anything. In a body that gcc (without -fgnu-tm) or clang
 * !!! compiled, only what goes through tandem_read_* and tandem_write_* (tandem::shared in C++) is
 * !!! transactional. A plain access to data that other threads' transactions change is a data race;
 * !!! a plain write is not undone when the transaction restarts or is cancelled.
 *
 * A body may run several times. Each function here may be called by any thread; those that need a
 * transaction end the process with one line where there is none. Null for a body, a function, a
 * condition or statistics is a mistake of the caller, as is a wrong address: undefined, in practice
 * SIGSEGV when it is used.
 */
#pragma once

#ifdef __cplusplus
#include <cstddef>
#include <cstdint>
#define TANDEM_NORETURN_ [[noreturn]]
extern "C" {
#else
#include <stddef.h>
#include <stdint.h>
#define TANDEM_NORETURN_ _Noreturn
#endif

/* For gcc -fgnu-tm: what may be called in its transactions as well. */
#if defined(__GNUC__) && !defined(__clang__)
#define TANDEM_PURE_ __attribute__((transaction_pure))
#else
#define TANDEM_PURE_
#endif

/* Who gives way in a conflict, where the algorithm knows both (eager, lazy, two-phase): -1 is the
 * process's choice (TANDEM_POLICY). Order and names: docs/libitm.md. */
enum tandem_policy {
  TANDEM_POLICY_DEFAULT = -1,
  TANDEM_POLICY_POLITE,
  TANDEM_POLICY_KARMA,
  TANDEM_POLICY_ERUPTION,
  TANDEM_POLICY_KINDERGARTEN,
  TANDEM_POLICY_TIMESTAMP,
  TANDEM_POLICY_POLKA,
  TANDEM_POLICY_SIZE_MATTERS,
  TANDEM_POLICY_STALL
};
/* How long to wait before trying again; -1: TANDEM_BACKOFF. */
enum tandem_backoff {
  TANDEM_BACKOFF_DEFAULT = -1,
  TANDEM_BACKOFF_NONE,
  TANDEM_BACKOFF_LINEAR,
  TANDEM_BACKOFF_EXPONENTIAL,
  TANDEM_BACKOFF_RANDOM,
  TANDEM_BACKOFF_SQUARE
};

/* Choices for one section; a constant of the program. Zero bytes are not the defaults: use
 * TANDEM_DEFAULT_OPTIONS. */
struct tandem_options {
  int policy;  /* tandem_policy */
  int backoff; /* tandem_backoff */
  uint32_t
      serialise_after; /* restarts in a row after which it runs serially; 0: the process's, 100 */
  int irrevocable;     /* not 0: runs serially and cannot be undone from its begin on */
};
#define TANDEM_DEFAULT_OPTIONS {TANDEM_POLICY_DEFAULT, TANDEM_BACKOFF_DEFAULT, 0, 0}

/* Choices for whatever sections the calling thread begins from now on, atomic ones of tandem-cc and
 * of gcc too, as far as a section's own options do not say otherwise; null: the process's. So they
 * are for one section where they are set before it and taken back behind it. Returns what they were
 * before. Not in a transaction; `irrevocable` is 0 there. */
struct tandem_options tandem_choose(const struct tandem_options *options);

enum tandem_outcome { TANDEM_COMMITTED = 0, TANDEM_CANCELLED = 1 };

/* Runs body(argument) as a transaction; nested where the thread is in one already. `options` may be
 * null; they count for an outermost transaction. */
enum tandem_outcome tandem_run(void (*body)(void *), void *argument,
                               const struct tandem_options *options);

/* The same for a body that others make from a function of the user's: profiles and messages name
 * `section`, that function's address, instead of `body`. */
enum tandem_outcome tandem_run_as(const void *section, void (*body)(void *), void *argument,
                                  const struct tandem_options *options);

/* Where the calling thread is. */
enum tandem_state { TANDEM_OUTSIDE = 0, TANDEM_REVOCABLE = 1, TANDEM_IRREVOCABLE = 2 };
TANDEM_PURE_ enum tandem_state tandem_in_transaction(void);

/* Undoes the innermost transaction, or all; its tandem_run returns TANDEM_CANCELLED. Not in an
 * irrevocable one. */
TANDEM_NORETURN_ void tandem_cancel(void);
TANDEM_NORETURN_ void tandem_cancel_all(void);

/* Undoes the whole transaction, sleeps until something that it has read may have changed, and runs
 * it again. Not in an irrevocable one, nor in one that gcc compiled without a cancel in it. */
TANDEM_NORETURN_ TANDEM_PURE_ void tandem_retry(void);

/* The transaction is serial and cannot be undone from here on; it may start again first. */
void tandem_become_irrevocable(void);

/* Calls function(argument) after the outermost transaction has committed, in the order of the
 * calls; or when the innermost one that made the call is undone, in reverse order. `bytes` above 0:
 * the function gets a copy of that much from `argument`, made now, at most 65536. On-abort
 * functions run inside the undoing: they must not begin transactions. */
void tandem_on_commit(void (*function)(void *), const void *argument, size_t bytes);
void tandem_on_abort(void (*function)(void *), const void *argument, size_t bytes);

/* tandem_malloc: memory that is freed again if the transaction is undone; null where there is no
 * memory, inside and outside of transactions. tandem_free: frees when the transaction has
 * committed; null is nothing. Outside of transactions as malloc and free. */
void *tandem_malloc(size_t bytes);
void tandem_free(void *memory);

/* Transactional accesses of any alignment. Outside of transactions they are plain. */
uint8_t tandem_read_u8(const uint8_t *address);
uint16_t tandem_read_u16(const uint16_t *address);
uint32_t tandem_read_u32(const uint32_t *address);
uint64_t tandem_read_u64(const uint64_t *address);
void tandem_write_u8(uint8_t *address, uint8_t value);
void tandem_write_u16(uint16_t *address, uint16_t value);
void tandem_write_u32(uint32_t *address, uint32_t value);
void tandem_write_u64(uint64_t *address, uint64_t value);
/* Shared memory to private memory, and back. */
void tandem_read_bytes(void *to, const void *from, size_t bytes);
void tandem_write_bytes(void *to, const void *from, size_t bytes);

/* A condition variable for transactions. Zero bytes are a valid one. */
struct tandem_condition {
  uint64_t generation;
};
/* Undoes the whole transaction, sleeps until the condition is signalled by a transaction that
 * commits after what this one has read, and runs it again: `if (queue is empty) tandem_wait(&c)`.
 * As tandem_retry, but other changes do not wake it. */
TANDEM_NORETURN_ TANDEM_PURE_ void tandem_wait(struct tandem_condition *condition);
/* Wakes all that wait, when the transaction commits. Needs a transaction. */
TANDEM_PURE_ void tandem_signal(struct tandem_condition *condition);

/* What the process has done since its start. Threads go on counting meanwhile. */
struct tandem_statistics {
  uint64_t attempts;       /* that began, nested ones not counted */
  uint64_t restarts;       /* attempts that were undone and began again */
  uint64_t cancels;        /* outermost transactions that were cancelled */
  uint64_t serialisations; /* attempts that ran serially or became irrevocable */
  uint64_t retries;        /* sleeps in tandem_retry and tandem_wait */
};
void tandem_get_statistics(struct tandem_statistics *statistics);

#ifdef __cplusplus
}
#endif
#undef TANDEM_NORETURN_
