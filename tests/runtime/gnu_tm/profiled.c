/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Does things whose profile is known: one conflict between two transactions, a cancel, a demand to
 * run serially, reads and writes. With an argument, a child process does the same. */
#include "check.h"

#include <stdatomic.h>
#include <sys/wait.h>

long contested;
struct box {
  char space[5000]; /* more than a page */
  long value;
};
static struct box *boxes[2]; /* the second one is allocated by a transaction */
static long own;
long cells[16];
long *block;
static atomic_int reading;

/* A reader that has seen what a writer is about to commit may still commit before it. So each
 * conflict is tried until the reader has begun twice. */
static atomic_int begins;
__attribute__((transaction_pure, noinline)) static void begun(void) {
  atomic_fetch_add(&begins, 1);
}

__attribute__((transaction_pure, noinline)) static void wait_for_the_writer(void) {
  atomic_store(&reading, 1);
  while (*(volatile long *)&contested == 0)
    ;
}

__attribute__((noinline)) static void reader(void) {
  __transaction_atomic {
    begun();
    long seen = contested;
    if (seen == 0)
      wait_for_the_writer();
    own += seen + 1;
  }
}

__attribute__((noinline)) static void *writer(void *argument) {
  while (!atomic_load(&reading))
    ;
  __transaction_atomic { contested = 5; }
  return argument;
}

__attribute__((noinline)) static void canceller(void) {
  __transaction_atomic {
    own = 99;
    __transaction_cancel;
  }
}

__attribute__((noinline)) static long sixteen_reads(void) {
  long sum = 0;
  __transaction_atomic {
    for (int i = 0; i < 16; ++i)
      sum += cells[i];
  }
  return sum;
}

/* The same with memory of the heap. */
static atomic_int reading_box;
static struct box *wanted;
__attribute__((transaction_pure, noinline)) static void wait_for_the_box(void) {
  atomic_store(&reading_box, 1);
  while (*(volatile long *)&wanted->value == 0)
    ;
}
__attribute__((noipa)) static void box_reader(struct box *box) {
  __transaction_atomic {
    begun();
    long seen = box->value;
    if (seen == 0)
      wait_for_the_box();
    own += seen + 1;
  }
}
__attribute__((noinline)) static void *box_writer(void *argument) {
  while (!atomic_load(&reading_box))
    ;
  __transaction_atomic { wanted->value = 1; }
  return argument;
}
__attribute__((noipa)) static struct box *plain_box(void) {
  struct box *box = calloc(1, sizeof *box);
  EXPECT(box != NULL); /* no tail call: this function is the caller */
  return box;
}
__attribute__((noipa)) static struct box *box_of_a_transaction(void) {
  struct box *box;
  __transaction_atomic {
    box = malloc(sizeof *box);
    box->value = 0;
  }
  return box;
}

__attribute__((noinline)) static void unsafe(void) { fflush(NULL); }

__attribute__((noinline)) static void demander(void) {
  __transaction_relaxed {
    ++own;
    if (own > 0)
      unsafe();
  }
}

__attribute__((noinline)) static void allocator(void) {
  __transaction_atomic {
    block = malloc(64);
    block[3] = 1;
  }
}

int main(int argc, char **argv) {
  (void)argv;
  if (argc > 1) {
    pid_t child = fork();
    if (child != 0) {
      int status = 0;
      EXPECT(waitpid(child, &status, 0) == child && status == 0);
    }
  }
  have_a_second_thread();
  pthread_t thread;
  do {
    contested = own = 0;
    atomic_store(&reading, 0);
    atomic_store(&begins, 0);
    EXPECT(pthread_create(&thread, NULL, writer, NULL) == 0);
    reader();
    EXPECT(pthread_join(thread, NULL) == 0);
  } while (begins == 1);
  EXPECT(own == 6);
  for (int i = 0; i < 3; ++i)
    canceller();
  EXPECT(sixteen_reads() == 0);
  demander();
  allocator();
  EXPECT(own == 7 && block[3] == 1);
  boxes[0] = plain_box();
  boxes[1] = box_of_a_transaction();
  for (int i = 0; i < 2; ++i) {
    do {
      wanted = boxes[i];
      wanted->value = 0;
      atomic_store(&reading_box, 0);
      atomic_store(&begins, 0);
      EXPECT(pthread_create(&thread, NULL, box_writer, NULL) == 0);
      box_reader(boxes[i]);
      EXPECT(pthread_join(thread, NULL) == 0);
    } while (begins == 1);
  }
  return 0;
}
