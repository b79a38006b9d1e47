// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies that attract each other, every pair, in three steps: all read all places, each thread
// moves its own bodies. SIZE: bodies.
#include "kernel.h"

#include <math.h>

enum { kSteps = 3 };

struct body {
  double place[3], speed[3], mass, unused;
};

static struct body *input, *bodies;
static size_t count;

static void prepare(size_t size) {
  uint64_t state = 7;
  count = size;
  input = make_array(count * sizeof *input);
  bodies = make_array(count * sizeof *bodies);
  for (size_t i = 0; i < count; ++i) {
    for (unsigned d = 0; d < 3; ++d) {
      input[i].place[d] = (double)(next_random(&state) >> 40) / (1 << 24);
      input[i].speed[d] = 0;
    }
    input[i].mass = 1 + (double)(next_random(&state) >> 60);
    input[i].unused = 0;
  }
}

static void restore(unsigned thread) {
  for (size_t i = part_begin(count, thread); i < part_end(count, thread); ++i)
    bodies[i] = input[i];
}

static void push(struct body *self, const struct body *all, double time) {
  double force[3] = {0, 0, 0};
  for (size_t j = 0; j < count; ++j) {
    double away[3], square = 1e-3;
    for (unsigned d = 0; d < 3; ++d) {
      away[d] = all[j].place[d] - self->place[d];
      square += away[d] * away[d];
    }
    const double strength = all[j].mass / (square * sqrt(square));
    for (unsigned d = 0; d < 3; ++d)
      force[d] += strength * away[d];
  }
  for (unsigned d = 0; d < 3; ++d)
    self->speed[d] += time * force[d];
}

static void work(unsigned thread) {
  for (unsigned step = 0; step < kSteps; ++step) {
    for (size_t i = part_begin(count, thread); i < part_end(count, thread); ++i)
      push(&bodies[i], bodies, 1e-6);
    barrier();
    for (size_t i = part_begin(count, thread); i < part_end(count, thread); ++i)
      for (unsigned d = 0; d < 3; ++d)
        bodies[i].place[d] += 1e-6 * bodies[i].speed[d];
    barrier();
  }
}

/* Forces are equal and opposite: the sum of impulses stays 0. */
static int is_right(void) {
  double impulse[3] = {0, 0, 0}, size = 0;
  for (size_t i = 0; i < count; ++i)
    for (unsigned d = 0; d < 3; ++d) {
      impulse[d] += bodies[i].mass * bodies[i].speed[d];
      size += fabs(bodies[i].mass * bodies[i].speed[d]);
    }
  for (unsigned d = 0; d < 3; ++d)
    if (!(fabs(impulse[d]) <= 1e-9 * size))
      return 0;
  return size > 0;
}

int main(int argc, char **argv) { return kernel_main(argc, argv, "nbody", 256); }
