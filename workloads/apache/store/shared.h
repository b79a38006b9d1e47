/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What processes that share a store need besides: one lock that outlives its holder, memory, and
 * who of them holds how many references.
 *
 * A transaction, and an inferred lock, is of one process. So a shared store is under this lock, in
 * whatever way the sections are enforced.
 *
 * Where a process dies in the lock, what is in the store may be half-done; where it dies outside,
 * the objects that it held would stay for ever. Either way the store is *broken* then: nothing is
 * found and nothing is stored, until no living process holds an object any more, and then it is
 * empty. So memory that was given to another object is never read.
 */
#pragma once

#include "core.h"

enum { kProcesses = 1024 };

struct process {
  pthread_mutex_t alive; /* held as long as the process lives; robust */
  bool used;
  uint64_t held; /* references */
};

struct shared {
  pthread_mutex_t mutex; /* robust */
  bool broken;
  uint64_t rebuilds;
  uint32_t processes; /* above every used one */
  struct segment *segment;
  void *memory;
  size_t bytes; /* of the segment */
  struct process process[kProcesses];
};

/* Sets up the locks; `memory` is for the segment. */
void shared_make(struct shared *shared, void *memory, size_t bytes);
/* Takes the lock. Result: whether the store can be used. */
bool shared_enter(struct shared *shared, struct core *core);
void shared_leave(struct shared *shared);
/* The slot of this process; -1: none is free. */
int shared_join(struct shared *shared);
void shared_part(struct shared *shared, int slot);
