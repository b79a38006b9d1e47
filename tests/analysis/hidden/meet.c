// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "meet.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The other side has begun the round already, and needs a processor for a moment. Whoever sleeps
// lets it have one, and soon gets one back, however many others want one.
enum { ATTEMPTS = 30, NANOSECONDS = 50000 };

static void pause_a_moment(void) {
  const struct timespec moment = {0, NANOSECONDS};
  nanosleep(&moment, NULL);
}

static struct {
  atomic_ulong begun[2]; // rounds
  atomic_ulong inside[2];
  atomic_ulong left[2];
  atomic_bool told;
} pairs[MEET_PAIRS];

void meet_begin(int pair, int side) {
  const unsigned long round = ++pairs[pair].begun[side];
  while (pairs[pair].begun[!side] < round)
    pause_a_moment();
}

static void wait_for(const atomic_ulong *other, unsigned long round) {
  for (int i = 0; i < ATTEMPTS && *other < round; ++i)
    pause_a_moment();
}

void meet_inside(int pair, int side) {
  const unsigned long round = pairs[pair].begun[side];
  pairs[pair].inside[side] = round;
  wait_for(&pairs[pair].inside[!side], round);
}

void meet_leave(int pair, int side) { pairs[pair].left[side] = pairs[pair].begun[side]; }

void meet_left(int pair, int side) { wait_for(&pairs[pair].left[!side], pairs[pair].begun[side]); }

void meet_result(int pair, long lost) {
  char line[64];
  snprintf(line, sizeof line, "pair %d lost %ld\n", pair, lost);
  if (write(STDOUT_FILENO, line, strlen(line)) < 0)
    abort();
  pairs[pair].told = 1;
}

void meet_wait(int pair) {
  while (!pairs[pair].told)
    pause_a_moment();
}
