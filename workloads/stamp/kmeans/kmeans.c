/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * K-means: Lloyd's algorithm. Threads take points, look for the nearest centre, and add each point
 * to the sum of its cluster; the means are the next centres. Few clusters: high contention.
 *
 * Coordinates are multiples of 1/64 in [0, 1), so that single precision adds 2^18 of them without
 * rounding: the sums do not depend on their order, and the result must be that of a plain
 * sequential program, bit by bit.
 */
#include "lib/harness.h"
#include "lib/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
  DIMENSIONS = 32,
  CHUNK = 3,    /* points taken at once */
  STEPS = 64,   /* of a coordinate, from 0 to 1 */
  SOURCES = 16, /* places that points are scattered around */
};

struct point {
  float at[DIMENSIONS];
};

struct cluster {
  _Alignas(128) struct point sum;
  uint64_t size;
};

struct parameters {
  uint64_t points;
  unsigned iterations; /* at most; fewer where little changes */
};

static const char *const inputs[] = {"high", "low", NULL};
static const unsigned cluster_counts[] = {15, 40};

static struct point *points;
static uint64_t point_count;
static unsigned clusters_wanted, most_iterations;
static uint32_t *memberships;
static struct point *centres; /* of this iteration */
static struct point *first;   /* of the first one */
static struct cluster *clusters;
static struct {
  _Alignas(128) uint64_t next; /* point that nobody has taken */
  _Alignas(128) uint64_t changes;
  _Alignas(128) unsigned iterations;
  bool done;
} shared;

static float scatter(struct random *random, double centre) {
  /* The sum of three uniform numbers is bell-shaped enough. */
  double offset = -1.5;
  for (int i = 0; i < 3; i++)
    offset += random_unit(random);
  double at = centre + 0.2 * offset;
  at = at < 0 ? 0 : at;
  const int step = (int)(at * STEPS);
  return (float)(step < STEPS ? step : STEPS - 1) / STEPS;
}

static void prepare(enum stamp_size size, unsigned input, uint64_t seed) {
  static const struct parameters all[STAMP_SIZES][2] = {
      {{4096, 10}, {2048, 10}},
      {{131072, 40}, {65536, 24}},
      {{262144, 100}, {262144, 40}},
      {{262144, 400}, {262144, 160}},
  };
  const struct parameters *parameters = &all[size][input];
  struct random random = random_stream(seed, 0);
  point_count = parameters->points;
  most_iterations = parameters->iterations;
  clusters_wanted = cluster_counts[input];
  points = allocate_table(point_count, sizeof *points);
  memberships = allocate_table(point_count, sizeof *memberships);
  centres = allocate_table(clusters_wanted, sizeof *centres);
  first = allocate_table(clusters_wanted, sizeof *first);
  clusters = allocate_table(clusters_wanted, sizeof *clusters);
  double sources[SOURCES][DIMENSIONS];
  for (int i = 0; i < SOURCES; i++)
    for (int d = 0; d < DIMENSIONS; d++)
      sources[i][d] = random_unit(&random);
  for (uint64_t i = 0; i < point_count; i++) {
    const uint64_t source = random_below(&random, SOURCES);
    for (int d = 0; d < DIMENSIONS; d++)
      points[i].at[d] = scatter(&random, sources[source][d]);
    memberships[i] = UINT32_MAX;
  }
  for (unsigned i = 0; i < clusters_wanted; i++)
    first[i] = centres[i] = points[random_below(&random, point_count)];
}

static SECTION_FUNCTION uint64_t take_points(uint64_t *next) {
  uint64_t taken = 0;
  SECTION {
    ATTEMPT();
    taken = *next;
    *next = taken + CHUNK;
  }
  return taken;
}

static SECTION_FUNCTION void add_point(struct cluster *cluster, struct point point) {
  SECTION {
    ATTEMPT();
    cluster->size++;
    for (int d = 0; d < DIMENSIONS; d++)
      cluster->sum.at[d] += point.at[d];
  }
}

static SECTION_FUNCTION void add_changes(uint64_t *changes, uint64_t own) {
  SECTION {
    ATTEMPT();
    *changes += own;
  }
}

static float distance(const struct point *a, const struct point *b) {
  float sum = 0;
  for (int d = 0; d < DIMENSIONS; d++) {
    const float difference = a->at[d] - b->at[d];
    sum += difference * difference;
  }
  return sum;
}

/* The lowest one of those that are nearest. */
static uint32_t nearest(const struct point *point, const struct point *among) {
  uint32_t best = 0;
  float least = distance(point, &among[0]);
  for (uint32_t i = 1; i < clusters_wanted; i++) {
    const float found = distance(point, &among[i]);
    if (found < least) {
      least = found;
      best = i;
    }
  }
  return best;
}

static void assign_points(struct stamp_thread *self) {
  uint64_t changes = 0;
  for (;;) {
    const uint64_t begin = take_points(&shared.next);
    self->sections++;
    if (begin >= point_count)
      break;
    for (uint64_t i = begin; i < begin + CHUNK && i < point_count; i++) {
      const uint32_t cluster = nearest(&points[i], centres);
      changes += memberships[i] != cluster;
      memberships[i] = cluster;
      add_point(&clusters[cluster], points[i]);
      self->sections++;
    }
  }
  add_changes(&shared.changes, changes);
  self->sections++;
}

/* An empty cluster keeps its centre. */
static void mean(struct point *centre, const struct cluster *cluster) {
  if (cluster->size == 0)
    return;
  for (int d = 0; d < DIMENSIONS; d++)
    centre->at[d] = cluster->sum.at[d] / (float)cluster->size;
}

/* Between the iterations; one thread. */
static void move_centres(void) {
  for (unsigned i = 0; i < clusters_wanted; i++)
    mean(&centres[i], &clusters[i]);
  shared.iterations++;
  shared.done = shared.iterations == most_iterations || shared.changes * 20000 <= point_count;
  if (shared.done)
    return;
  memset(clusters, 0, clusters_wanted * sizeof *clusters);
  shared.changes = 0;
  shared.next = 0;
}

static void run(struct stamp_thread *self) {
  do {
    assign_points(self);
    stamp_barrier();
    if (self->index == 0)
      move_centres();
    stamp_barrier();
  } while (!shared.done);
}

/* One iteration of the algorithm, in a loop over the points; how many change their clusters. */
static uint64_t iterate_plainly(struct point *means, uint32_t *in, struct cluster *sums) {
  uint64_t changes = 0;
  memset(sums, 0, clusters_wanted * sizeof *sums);
  for (uint64_t i = 0; i < point_count; i++) {
    const uint32_t cluster = nearest(&points[i], means);
    changes += in[i] != cluster;
    in[i] = cluster;
    sums[cluster].size++;
    for (int d = 0; d < DIMENSIONS; d++)
      sums[cluster].sum.at[d] += points[i].at[d];
  }
  for (unsigned i = 0; i < clusters_wanted; i++)
    mean(&means[i], &sums[i]);
  return changes;
}

static bool verify(void) {
  struct cluster *sums = allocate_table(clusters_wanted, sizeof *sums);
  uint32_t *in = allocate_table(point_count, sizeof *in);
  for (uint64_t i = 0; i < point_count; i++)
    in[i] = UINT32_MAX;
  unsigned iterations = 0;
  uint64_t changes = point_count;
  while (changes * 20000 > point_count && iterations < most_iterations) {
    changes = iterate_plainly(first, in, sums);
    iterations++;
  }
  if (iterations != shared.iterations)
    return stamp_wrong("%u iterations, not %u", shared.iterations, iterations);
  for (uint64_t i = 0; i < point_count; i++) {
    if (memberships[i] != in[i])
      return stamp_wrong("point %llu is in cluster %u, not %u", (unsigned long long)i,
                         memberships[i], in[i]);
    stamp_checksum(i * 64 + in[i]);
  }
  for (unsigned i = 0; i < clusters_wanted; i++)
    if (clusters[i].size != sums[i].size || memcmp(&centres[i], &first[i], sizeof first[i]) != 0)
      return stamp_wrong("cluster %u has %llu points and another centre than its %llu ones", i,
                         (unsigned long long)clusters[i].size, (unsigned long long)sums[i].size);
  free(sums);
  free(in);
  stamp_checksum(shared.iterations);
  stamp_report("points", (double)point_count);
  stamp_report("iterations", shared.iterations);
  return true;
}

const struct stamp_application stamp_application = {
    .name = "kmeans",
    .summary = "groups points by Lloyd's algorithm",
    .inputs = inputs,
    .prepare = prepare,
    .run = run,
    .verify = verify,
};
