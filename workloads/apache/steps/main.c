/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *     steps inside|behind|handler|closure THREADS OPERATIONS [S [SEED]]
 *
 * Threads look up 500 objects by Zipf's law; every object that is found is registered once, and
 * given back from the pool. One line of JSON. Status 1 where the pools do not have what was found.
 */
#include "../replay/stream.h"
#include "../store/handle.h"
#include "steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { kKeys = 500, kRequest = 16 /* objects of a pool before it is cleared */ };

struct core *steps_core(struct store *store) { return store->core; }

struct worker {
  open_step *open;
  struct store *store;
  const struct stream *stream;
  uint64_t operations, hits, registered;
  size_t at;
  pthread_barrier_t *start;
};

static void clear(struct worker *worker, struct pool *pool) {
  worker->registered += pool->count;
  while (pool->count != 0)
    store_release(worker->store, pool->registered[--pool->count]);
}

static void *run(void *argument) {
  struct worker *worker = argument;
  const struct stream *stream = worker->stream;
  struct pool pool = {0};
  pthread_barrier_wait(worker->start);
  for (uint64_t i = 0; i < worker->operations; i++) {
    const uint32_t key = stream->order[(worker->at + i) % stream->length];
    struct store_object *object =
        worker->open(worker->store, &pool, stream->key[key], stream->key_bytes[key], i);
    worker->hits += object != NULL;
    if (pool.count >= kRequest)
      clear(worker, &pool);
  }
  clear(worker, &pool);
  free(pool.registered);
  return NULL;
}

static open_step *step_of(const char *name) {
  static const struct {
    const char *name;
    open_step *open;
  } steps[] = {{"inside", open_inside},
               {"behind", open_behind},
               {"handler", open_handler},
               {"closure", open_closure}};
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
    if (strcmp(steps[i].name, name) == 0)
      return steps[i].open;
  return NULL;
}

static void fill(struct store *store, const struct stream *stream) {
  for (uint32_t key = 0; key < kKeys; key += 1) {
    struct store_object *object =
        store_make(store, stream->key[key], stream->key_bytes[key], &key, sizeof key);
    store_commit(store, object, 0);
    store_release(store, object);
  }
}

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int count, char **words) {
  const unsigned threads = count > 3 ? (unsigned)atoi(words[2]) : 0;
  const uint64_t operations = count > 3 ? strtoull(words[3], NULL, 10) : 0;
  open_step *open = count > 3 ? step_of(words[1]) : NULL;
  if (open == NULL || threads == 0 || threads > 64 || operations == 0) {
    fputs("usage: steps inside|behind|handler|closure THREADS OPERATIONS [S [SEED]]\n", stderr);
    return 2;
  }
  struct stream stream = {0};
  stream_zipf(&stream, kKeys, count > 4 ? atof(words[4]) : 1, 100000,
              count > 5 ? strtoull(words[5], NULL, 10) : 1);
  const struct store_settings settings = {.bytes = (size_t)64 << 20, .objects = 1009};
  struct store *store = store_create(&settings);
  if (store == NULL)
    return 1;
  fill(store, &stream);
  struct worker workers[64];
  pthread_t ids[64];
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, threads + 1);
  for (unsigned i = 0; i < threads; i++) {
    workers[i] = (struct worker){open, store, &stream, operations, 0, 0, i * 7919, &start};
    pthread_create(&ids[i], NULL, run, &workers[i]);
  }
  const double begin_s = seconds();
  pthread_barrier_wait(&start);
  uint64_t hits = 0, registered = 0;
  for (unsigned i = 0; i < threads; i++) {
    pthread_join(ids[i], NULL);
    hits += workers[i].hits;
    registered += workers[i].registered;
  }
  const double wall_s = seconds() - begin_s;
  const char *wrong = store_check(store, 0);
  printf(
      "{\"version\": 1, \"step\": \"%s\", \"threads\": %u, \"operations\": %llu, "
      "\"seconds\": %.6f, \"operations_per_second\": %.0f, \"hits\": %llu, \"registered\": %llu}\n",
      words[1], threads, (unsigned long long)(threads * operations), wall_s,
      (double)(threads * operations) / wall_s, (unsigned long long)hits,
      (unsigned long long)registered);
  if (wrong != NULL)
    fprintf(stderr, "steps: %s\n", wrong);
  store_destroy(store);
  stream_free(&stream);
  return wrong == NULL && hits == registered && hits == threads * operations ? 0 : 1;
}
