/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The peer NOrec (workloads/micro/norec.h), one rule of it at a time. Two threads take turns at
 * given places of a section; nothing depends on when they run.
 */
#include "section.h"

#include <semaphore.h>

NOREC_DEFINE

enum { WORDS = 200, BLOCKS = 3 * NOREC_BATCH };

static long first, second, words[WORDS];
static long *blocks[BLOCKS];
static sem_t other_turn, own_turn;
static int attempts;

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "norec.c:%d: %s\n", __LINE__, #condition);                                   \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static void *change_both(void *argument) {
  THREAD_START;
  sem_wait(&other_turn);
  SECTION
  WRITE(first, 1);
  WRITE(second, 1);
  SECTION_END
  sem_post(&own_turn);
  return argument;
}

/* The clock moves and the value that was read does not. */
static void *change_second(void *argument) {
  THREAD_START;
  sem_wait(&other_turn);
  SECTION
  WRITE(first, 0);
  WRITE(second, 1);
  SECTION_END
  sem_post(&own_turn);
  return argument;
}

static void *free_all(void *argument) {
  THREAD_START;
  sem_wait(&other_turn);
  for (int i = 0; i < BLOCKS; ++i) {
    SECTION
    long *block = READ(blocks[i]);
    WRITE(blocks[i], NULL);
    FREE(block);
    SECTION_END
  }
  EXPECT(norec_self->retired_count == BLOCKS);
  sem_post(&own_turn);
  sem_wait(&other_turn); /* the older section is over */
  norec_reclaim(norec_self);
  EXPECT(norec_self->retired_count == 0);
  return argument;
}

static void *write_word(void *argument) {
  THREAD_START;
  sem_wait(&other_turn);
  SECTION
  WRITE(words[0], 100);
  SECTION_END
  sem_post(&own_turn);
  return argument;
}

static pthread_t start(void *(*function)(void *)) {
  pthread_t thread;
  first = second = 0;
  attempts = 0;
  EXPECT(pthread_create(&thread, NULL, function, NULL) == 0);
  return thread;
}

static void give_turn(void) {
  if (attempts++ == 0) {
    sem_post(&other_turn);
    sem_wait(&own_turn);
  }
}

static void test_reads_hold_together(void) {
  pthread_t thread = start(change_both);
  long one, two;
  SECTION
  one = READ(first);
  give_turn();
  two = READ(second);
  SECTION_END
  pthread_join(thread, NULL);
  EXPECT(attempts == 2 && one == 1 && two == 1);
}

static void test_values_are_compared(void) {
  pthread_t thread = start(change_second);
  long one, two;
  SECTION
  one = READ(first);
  give_turn();
  two = READ(second);
  SECTION_END
  pthread_join(thread, NULL);
  EXPECT(attempts == 1 && one == 0 && two == 1);
}

static void test_commit_validates(void) {
  pthread_t thread = start(write_word);
  words[0] = 0;
  SECTION
  long *block = ALLOCATE(sizeof *block); /* freed by the restart */
  WRITE(words[1], (long)(block != NULL));
  ADD(words[0], 1);
  give_turn();
  FREE(block);
  SECTION_END
  pthread_join(thread, NULL);
  EXPECT(attempts == 2 && words[0] == 101 && words[1] == 1);
}

static void test_section_sees_its_writes(void) {
  for (int i = 0; i < WORDS; ++i)
    words[i] = -1;
  SECTION
  for (int i = 0; i < WORDS; ++i) {
    EXPECT(READ(words[i]) == -1);
    WRITE(words[i], (long)i);
    WRITE(words[i / 2], (long)(i / 2 + 1000));
  }
  for (int i = 0; i < WORDS; ++i)
    EXPECT(READ(words[i]) == (i <= (WORDS - 1) / 2 ? i + 1000 : i) && words[i] == -1);
  SECTION_END
  for (int i = 0; i < WORDS; ++i)
    EXPECT(words[i] == (i <= (WORDS - 1) / 2 ? i + 1000 : i));
  for (int i = 0; i < NOREC_SLOTS; ++i)
    EXPECT(norec_self->slots[i] == 0);
}

/* A thread in a section that began before they were unlinked may look at them plainly. */
static void test_frees_wait_for_older_sections(void) {
  for (int i = 0; i < BLOCKS; ++i) {
    blocks[i] = malloc(sizeof *blocks[i]);
    EXPECT(blocks[i] != NULL);
    *blocks[i] = i;
  }
  pthread_t thread = start(free_all);
  SECTION
  EXPECT(READ(first) == 0);
  long *last = blocks[BLOCKS - 1];
  give_turn();
  EXPECT(*last == BLOCKS - 1);
  SECTION_END
  sem_post(&other_turn);
  pthread_join(thread, NULL);
}

int main(void) {
  sem_init(&other_turn, 0, 0);
  sem_init(&own_turn, 0, 0);
  THREAD_START;
  test_reads_hold_together();
  test_values_are_compared();
  test_commit_validates();
  test_section_sees_its_writes();
  test_frees_wait_for_older_sections();
  puts("ok");
  return 0;
}
