/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the programs of generator.py access memory by. With -DRECORD each access of a section is a
 * line of standard output, "SECTION THREAD ADDRESS SIZE r|w LINE", and the threads take turns, one
 * operation each, so that an input has one execution. Without it there is nothing but the access.
 */
#pragma once

#include <alloca.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef RECORD

static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t record_turned = PTHREAD_COND_INITIALIZER;
static int record_turn; /* thread record_turn % THREADS may run */
static _Thread_local int record_section = -1, record_thread;

static void note(const void *address, size_t size, char how, int line) {
  if (record_section >= 0)
    printf("%d %d %ju %zu %c %d\n", record_section, record_thread, (uintmax_t)(uintptr_t)address,
           size, how, line);
}
static void begin_turn(int thread) {
  record_thread = thread;
  pthread_mutex_lock(&record_lock);
  while (record_turn % THREADS != thread)
    pthread_cond_wait(&record_turned, &record_lock);
  pthread_mutex_unlock(&record_lock);
}
static void end_turn(void) {
  pthread_mutex_lock(&record_lock);
  ++record_turn;
  pthread_cond_broadcast(&record_turned);
  pthread_mutex_unlock(&record_lock);
}

#define LOAD(x) (note(&(x), sizeof(x), 'r', __LINE__), (x))
#define STORE(x, value) (note(&(x), sizeof(x), 'w', __LINE__), (x) = (value))
#define READS(address, size) note((address), (size), 'r', __LINE__)
#define WRITES(address, size) note((address), (size), 'w', __LINE__)
#define ENTER(section) (record_section = (section))
#define LEAVE() (record_section = -1)
#define BEGIN_TURN(thread) begin_turn(thread)
#define END_TURN() end_turn()

#else

#define LOAD(x) (x)
#define STORE(x, value) ((x) = (value))
#define READS(address, size) ((void)0)
#define WRITES(address, size) ((void)0)
#define ENTER(section) ((void)0)
#define LEAVE() ((void)0)
#define BEGIN_TURN(thread) ((void)0)
#define END_TURN() ((void)0)

#endif
