/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "shared.h"

#include <errno.h>

static void make_robust(pthread_mutex_t *mutex) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

void shared_make(struct shared *shared, void *memory, size_t bytes) {
  make_robust(&shared->mutex);
  for (int i = 0; i < kProcesses; i++)
    make_robust(&shared->process[i].alive);
  shared->memory = memory;
  shared->bytes = bytes;
  shared->segment = segment_make(memory, bytes);
}

/* Whether the process of that slot is gone; the slot is free then. */
static bool buried(struct process *process) {
  const int status = pthread_mutex_trylock(&process->alive);
  if (status == EBUSY)
    return false;
  if (status == EOWNERDEAD)
    pthread_mutex_consistent(&process->alive);
  pthread_mutex_unlock(&process->alive);
  process->used = false;
  return true;
}

/* Whether no living process holds an object. */
static bool abandoned(struct shared *shared) {
  for (uint32_t i = 0; i < shared->processes; i++) {
    struct process *process = &shared->process[i];
    if (process->held == 0)
      continue;
    if (process->used && !buried(process))
      return false;
    process->held = 0;
  }
  return true;
}

bool shared_enter(struct shared *shared, struct core *core) {
  if (pthread_mutex_lock(&shared->mutex) == EOWNERDEAD) {
    pthread_mutex_consistent(&shared->mutex);
    shared->broken = true;
  }
  if (!shared->broken)
    return true;
  if (!abandoned(shared))
    return false;
  core_clear(core);
  shared->segment = segment_make(shared->memory, shared->bytes);
  shared->broken = false;
  shared->rebuilds++;
  return true;
}

void shared_leave(struct shared *shared) { pthread_mutex_unlock(&shared->mutex); }

int shared_join(struct shared *shared) {
  int free = -1;
  for (int i = 0; i < kProcesses; i++) {
    struct process *process = &shared->process[i];
    const bool died = process->used && buried(process);
    shared->broken = shared->broken || (died && process->held != 0);
    /* What the dead one held is looked at when the store is rebuilt. */
    if (died)
      process->held = 0;
    if (!process->used && free < 0)
      free = i;
  }
  if (free < 0)
    return -1;
  struct process *mine = &shared->process[free];
  /* Nobody holds it; a try takes no place in an order of locks, which shared_part would invert. */
  const int status = pthread_mutex_trylock(&mine->alive);
  if (status == EOWNERDEAD)
    pthread_mutex_consistent(&mine->alive);
  else if (status != 0)
    return -1;
  mine->used = true;
  mine->held = 0;
  if (shared->processes <= (uint32_t)free)
    shared->processes = (uint32_t)free + 1;
  return free;
}

void shared_part(struct shared *shared, int slot) {
  struct process *mine = &shared->process[slot];
  if (mine->held != 0) {
    /* It may still read what it holds: the lock stays until it is dead. */
    shared->broken = true;
    return;
  }
  mine->used = false;
  pthread_mutex_unlock(&mine->alive);
}
