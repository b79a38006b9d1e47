/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * NOrec as one writes it into a program by hand: what tandem-cc's code is measured against.
 *
 * One clock, odd while somebody writes back. A section logs each shared word that it reads with its
 * value, and keeps what it writes in a redo log. Whoever finds the clock moved compares all values
 * that it has read with those in memory: if they hold, they hold together at the new time. A commit
 * with writes takes the clock from the time at which its reads hold to the odd one after it.
 *
 * Only accesses to shared words go through norec_read and norec_write; all are of one word.
 * Restarts are jumps without signal masks. What a section allocates is freed if it restarts. What
 * it frees waits until no section runs that began before it committed, so a field that is constant
 * while its object is shared may be read plainly.
 *
 * Invariants: norec_clock moves up only. At the time `snapshot`, every word in read_set had its
 * value. slots[i] is 0, or 1 + an index of write_set.
 *
 * Source: Dalessandro, Spear, Scott, "NOrec: Streamlining STM by Abolishing Ownership Records",
 * PPoPP 2010.
 */
#pragma once

#include <linux/membarrier.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A shared word, whatever its type in the program. */
typedef uint64_t norec_word __attribute__((may_alias));

enum {
  NOREC_THREADS = 80,
  NOREC_READS = 4096,
  NOREC_WRITES = 240, /* an index fits a byte */
  NOREC_SLOT_BITS = 9,
  NOREC_SLOTS = 1 << NOREC_SLOT_BITS, /* more than twice the writes */
  NOREC_ALLOCATIONS = 16,             /* of a section; and as many that it frees */
  NOREC_BATCH = 512,                  /* freed blocks that are looked at together */
  NOREC_SPINS = 256                   /* before the processor is given away */
};

/* The time of a thread that is in no section. */
#define NOREC_IDLE UINT64_MAX

#define NOREC_LIKELY(x) __builtin_expect(!!(x), 1)
#define NOREC_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define NOREC_COLD __attribute__((noinline, cold, unused)) static

struct norec_read_entry {
  const norec_word *place;
  uint64_t value;
};

struct norec_write_entry {
  norec_word *place;
  uint64_t value;
  uint64_t slot; /* that names it */
};

struct norec_retired {
  void *block;
  uint64_t since; /* no section that began at this time or later can reach it */
};

struct norec_thread {
  _Alignas(128) uint64_t snapshot; /* others read it */
  _Alignas(128) struct norec_read_entry *reads_end;
  uint64_t writes;
  uint64_t allocations;
  uint64_t frees;
  uint64_t restarts; /* of this section */
  uint64_t random;
  void *restart[5]; /* for __builtin_setjmp */
  void *allocated[NOREC_ALLOCATIONS];
  void *freed[NOREC_ALLOCATIONS];
  struct norec_retired *retired; /* in the order of `since` */
  size_t retired_count, retired_room, retired_look_at;
  uint8_t slots[NOREC_SLOTS];
  struct norec_write_entry write_set[NOREC_WRITES];
  struct norec_read_entry read_set[NOREC_READS];
};

struct norec_shared {
  _Alignas(128) uint64_t clock;
  _Alignas(128) uint64_t threads;
  struct norec_thread thread[NOREC_THREADS];
};

/* Defined by one file of the program (NOREC_DEFINE). */
extern struct norec_shared norec_shared;
extern _Thread_local struct norec_thread *norec_self;
#define NOREC_DEFINE                                                                               \
  struct norec_shared norec_shared;                                                                \
  _Thread_local struct norec_thread *norec_self;

/* Ends the program: a limit of this file. */
__attribute__((noreturn)) NOREC_COLD void norec_fail(const char *what) {
  fprintf(stderr, "norec: %s\n", what);
  abort();
}

/* Once in each thread, before its first section. */
NOREC_COLD void norec_thread_start(void) {
  uint64_t number = __atomic_fetch_add(&norec_shared.threads, 1, __ATOMIC_RELAXED);
  if (number >= NOREC_THREADS)
    norec_fail("too many threads");
  struct norec_thread *self = &norec_shared.thread[number];
  self->random = 0x9e3779b97f4a7c15U * (number + 1);
  self->retired_look_at = NOREC_BATCH;
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
  /* Pairs with norec_reclaim: that one sees the thread in a section, or skips it while it is in
   * none; a thread whose `snapshot` is still 0 holds everything back. */
  __atomic_store_n(&self->snapshot, NOREC_IDLE, __ATOMIC_RELEASE);
  norec_self = self;
}

static inline void norec_pause(unsigned *spins) {
  if (++*spins % NOREC_SPINS == 0)
    sched_yield(); /* whoever writes back may have lost its processor */
  else
    __builtin_ia32_pause();
}

/* An even time. */
static inline uint64_t norec_even_time(void) {
  unsigned spins = 0;
  for (;;) {
    /* Pairs with the release in norec_commit: what was written back is seen. */
    uint64_t now = __atomic_load_n(&norec_shared.clock, __ATOMIC_ACQUIRE);
    if (NOREC_LIKELY(now % 2 == 0))
      return now;
    norec_pause(&spins);
  }
}

/* ---- memory ---- */

/* Frees what no section can reach any more. */
NOREC_COLD void norec_reclaim(struct norec_thread *self) {
  /* Each other thread has published its time, or reads memory only after the unlinking that has
   * committed here: this takes the place of a fence at the begin of each section. A kernel that has
   * no such call leaves everything to the end of the process. */
  int ordered = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
  uint64_t oldest = NOREC_IDLE;
  uint64_t threads = __atomic_load_n(&norec_shared.threads, __ATOMIC_RELAXED);
  for (uint64_t i = 0; i < threads && i < NOREC_THREADS; ++i) {
    uint64_t time = __atomic_load_n(&norec_shared.thread[i].snapshot, __ATOMIC_ACQUIRE);
    if (time < oldest)
      oldest = time;
  }
  size_t count = 0;
  while (ordered && count < self->retired_count && self->retired[count].since <= oldest)
    free(self->retired[count++].block);
  self->retired_count -= count;
  memmove(self->retired, self->retired + count, self->retired_count * sizeof *self->retired);
  self->retired_look_at = self->retired_count + NOREC_BATCH;
}

/* After the commit, and outside of the section. */
__attribute__((noinline, unused)) static void norec_retire(struct norec_thread *self,
                                                           uint64_t since) {
  for (uint64_t i = 0; i < self->frees; ++i) {
    if (self->retired_count == self->retired_room) {
      self->retired_room = 2 * self->retired_room + NOREC_BATCH;
      self->retired = realloc(self->retired, self->retired_room * sizeof *self->retired);
      if (self->retired == NULL)
        norec_fail("no memory is left");
    }
    self->retired[self->retired_count++] = (struct norec_retired){self->freed[i], since};
  }
  if (self->retired_count >= self->retired_look_at)
    norec_reclaim(self);
}

static inline void *norec_malloc(size_t size) {
  struct norec_thread *self = norec_self;
  void *block = malloc(size);
  if (NOREC_UNLIKELY(self->allocations == NOREC_ALLOCATIONS))
    norec_fail("a section allocates too often");
  self->allocated[self->allocations++] = block;
  return block;
}

static inline void norec_free(void *block) {
  struct norec_thread *self = norec_self;
  if (NOREC_UNLIKELY(self->frees == NOREC_ALLOCATIONS))
    norec_fail("a section frees too often");
  self->freed[self->frees++] = block;
}

/* ---- sections ---- */

static inline void norec_forget_writes(struct norec_thread *self) {
  for (uint64_t i = 0; i < self->writes; ++i)
    self->slots[self->write_set[i].slot] = 0;
}

/* Back to the begin of the section, after a random wait that doubles with each restart. */
__attribute__((noreturn)) NOREC_COLD void norec_restart(struct norec_thread *self) {
  __atomic_store_n(&self->snapshot, NOREC_IDLE, __ATOMIC_RELEASE);
  norec_forget_writes(self);
  for (uint64_t i = 0; i < self->allocations; ++i)
    free(self->allocated[i]);
  unsigned doublings = self->restarts < 8 ? (unsigned)self->restarts : 8;
  ++self->restarts;
  self->random = self->random * 6364136223846793005U + 1442695040888963407U;
  for (uint64_t left = (self->random >> 33) % (2UL << doublings); left > 0; --left)
    __builtin_ia32_pause();
  __builtin_longjmp(self->restart, 1);
}

/* A new time at which all that was read holds; restarts where there is none. */
__attribute__((noinline, unused)) static void norec_extend(struct norec_thread *self) {
  for (;;) {
    uint64_t time = norec_even_time();
    for (const struct norec_read_entry *entry = self->read_set; entry < self->reads_end; ++entry)
      /* Pairs with the release of a write back, and keeps the clock's load behind it. */
      if (__atomic_load_n(entry->place, __ATOMIC_ACQUIRE) != entry->value)
        norec_restart(self);
    if (__atomic_load_n(&norec_shared.clock, __ATOMIC_ACQUIRE) == time) {
      /* Release: reads of blocks that it no longer can reach are done (norec_reclaim). */
      __atomic_store_n(&self->snapshot, time, __ATOMIC_RELEASE);
      return;
    }
  }
}

static inline void norec_begin(void) {
  struct norec_thread *self = norec_self;
  self->reads_end = self->read_set;
  self->writes = 0;
  self->allocations = 0;
  self->frees = 0;
  __atomic_store_n(&self->snapshot, norec_even_time(), __ATOMIC_RELAXED);
}

static inline void norec_commit(void) {
  struct norec_thread *self = norec_self;
  if (self->writes != 0) {
    uint64_t time = self->snapshot;
    while (NOREC_UNLIKELY(!__atomic_compare_exchange_n(&norec_shared.clock, &time, time + 1, 0,
                                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))) {
      norec_extend(self);
      time = self->snapshot;
    }
    for (uint64_t i = 0; i < self->writes; ++i) {
      const struct norec_write_entry *entry = &self->write_set[i];
      /* Pairs with the acquire in norec_read: who sees the value sees that the clock has moved. */
      __atomic_store_n(entry->place, entry->value, __ATOMIC_RELEASE);
      self->slots[entry->slot] = 0;
    }
    __atomic_store_n(&norec_shared.clock, time + 2, __ATOMIC_RELEASE);
    __atomic_store_n(&self->snapshot, NOREC_IDLE, __ATOMIC_RELEASE);
    if (self->frees != 0)
      norec_retire(self, time + 2);
  } else {
    /* Release: the section's reads are done (norec_reclaim). */
    __atomic_store_n(&self->snapshot, NOREC_IDLE, __ATOMIC_RELEASE);
  }
  self->restarts = 0;
}

/* ---- accesses ---- */

/* The slot that names the place, or the empty one where it would be named. */
static inline uint64_t norec_slot(const struct norec_thread *self, const norec_word *place) {
  uint64_t slot = ((uintptr_t)place * 0x9e3779b97f4a7c15U) >> (64 - NOREC_SLOT_BITS);
  while (self->slots[slot] != 0 && self->write_set[self->slots[slot] - 1].place != place)
    slot = (slot + 1) % NOREC_SLOTS;
  return slot;
}

static inline uint64_t norec_read(const norec_word *place) {
  struct norec_thread *self = norec_self;
  if (self->writes != 0) {
    unsigned named = self->slots[norec_slot(self, place)];
    if (named != 0)
      return self->write_set[named - 1].value;
  }
  /* The clock is looked at behind it. */
  uint64_t value = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  while (NOREC_UNLIKELY(__atomic_load_n(&norec_shared.clock, __ATOMIC_ACQUIRE) != self->snapshot)) {
    norec_extend(self);
    value = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  }
  struct norec_read_entry *entry = self->reads_end;
  if (NOREC_UNLIKELY(entry == self->read_set + NOREC_READS))
    norec_fail("a section reads too much");
  *entry = (struct norec_read_entry){place, value};
  self->reads_end = entry + 1;
  return value;
}

static inline void norec_write(norec_word *place, uint64_t value) {
  struct norec_thread *self = norec_self;
  uint64_t slot = norec_slot(self, place);
  unsigned named = self->slots[slot];
  if (named != 0) {
    self->write_set[named - 1].value = value;
    return;
  }
  if (NOREC_UNLIKELY(self->writes == NOREC_WRITES))
    norec_fail("a section writes too much");
  self->write_set[self->writes++] = (struct norec_write_entry){place, value, slot};
  self->slots[slot] = (uint8_t)self->writes;
}
