/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "worker.h"

#include <tandem/machine.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Objects that a thread keeps for a while, as a server does while clients read slowly. */
enum { kKept = 4, kPiece = 8000 /* bytes of a bucket of httpd's */ };

struct kept {
  struct store_object *object;
  struct head head;
};

struct worker {
  const struct replay *replay;
  struct work *work;
  struct knowledge knowledge;
  struct kept kept[kKept];
  uint64_t random;
  char *piece;
  uint64_t now;
  size_t at; /* in the stream */
};

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void fail(struct worker *worker, const char *why, uint32_t key) {
  if (worker->work->wrong[0] == '\0')
    snprintf(worker->work->wrong, sizeof worker->work->wrong, "%s (key %u, operation %llu)", why,
             key, (unsigned long long)worker->work->operations);
}

/* The whole body is what the head says. */
static void compare(struct worker *worker, const struct store_object *object,
                    const struct head *head) {
  const void *cursor = NULL;
  const char *data;
  size_t bytes, at = 0;
  while (store_next_part(object, &cursor, &data, &bytes)) {
    const char *wrong = contents_compare(data, head, at, bytes);
    if (wrong != NULL)
      fail(worker, wrong, head->key);
    at += bytes;
  }
  if (at != head->body_bytes)
    fail(worker, "the parts of a body are not all of it", head->key);
  worker->work->compared++;
}

static void let_go(struct worker *worker, struct kept *kept) {
  if (kept->object == NULL)
    return;
  compare(worker, kept->object, &kept->head);
  store_release(worker->replay->store, kept->object);
  kept->object = NULL;
}

static bool owns(const struct worker *worker, uint32_t key) {
  return key % worker->replay->workers == worker->work->number;
}

static uint32_t next_version(const struct worker *worker, uint32_t key) {
  const uint32_t first = worker->work->incarnation << 20;
  const uint32_t last = worker->knowledge.version[key];
  return (last < first ? first : last) + 1;
}

static void committed(struct worker *worker, const struct head *head, struct store_object *object) {
  struct store *store = worker->replay->store;
  if (store_commit(store, object, worker->now)) {
    worker->knowledge.version[head->key] = head->version;
    worker->knowledge.gone[head->key] = false;
    worker->work->stores++;
  }
}

static void put(struct worker *worker, uint32_t key) {
  const struct stream *stream = worker->replay->stream;
  struct store *store = worker->replay->store;
  const bool check = worker->replay->options->check;
  struct head head = {
      .key = key, .version = next_version(worker, key), .body_bytes = stream->body_bytes[key]};
  head.body_version = head.version;
  struct store_object *object =
      store_make(store, stream->key[key], stream->key_bytes[key], &head, sizeof head);
  if (object == NULL)
    return;
  const bool length_known = !check || random_next(&worker->random) % 2 == 0;
  bool room = true;
  for (size_t at = 0; room && at < head.body_bytes;) {
    const size_t left = head.body_bytes - at;
    const size_t bytes = left < kPiece ? left : (size_t)kPiece;
    const char *from = worker->replay->filler;
    if (check)
      contents_fill(worker->piece, &head, at, bytes), from = worker->piece;
    room = store_append(store, object, from, bytes, length_known ? left : 0);
    at += bytes;
  }
  /* As a client that hangs up before the end. */
  const bool given_up = check && random_next(&worker->random) % 64 == 0;
  if (room && !given_up)
    committed(worker, &head, object);
  store_release(store, object);
}

/* New head, same body, as upon 304 Not Modified. */
static void refresh(struct worker *worker, struct store_object *from, struct head head) {
  const struct stream *stream = worker->replay->stream;
  head.version = next_version(worker, head.key);
  struct store_object *object = store_remake(worker->replay->store, from, stream->key[head.key],
                                             stream->key_bytes[head.key], &head, sizeof head);
  if (object == NULL)
    return;
  committed(worker, &head, object);
  store_release(worker->replay->store, object);
}

static void change(struct worker *worker, struct store_object *object, const struct head *head) {
  if (random_next(&worker->random) % 1000 >= worker->replay->options->changes ||
      !owns(worker, head->key))
    return;
  switch (random_next(&worker->random) % 3) {
  case 0:
    refresh(worker, object, *head);
    break;
  case 1:
    put(worker, head->key);
    break;
  default:
    if (store_remove(worker->replay->store, object))
      worker->knowledge.gone[head->key] = true;
  }
}

static void found(struct worker *worker, struct store_object *object, uint32_t key) {
  const struct replay *replay = worker->replay;
  size_t bytes;
  struct head head = {0};
  const void *text = store_head(object, &bytes);
  memcpy(&head, text, bytes < sizeof head ? bytes : sizeof head);
  worker->work->hits++;
  if (!replay->options->check) {
    if (head.key != key)
      fail(worker, "a key gave another key's object", key);
    store_release(replay->store, object);
    return;
  }
  const char *wrong = contents_seen(&worker->knowledge, &head, bytes, key, store_body_bytes(object),
                                    owns(worker, key));
  if (wrong != NULL)
    fail(worker, wrong, key);
  compare(worker, object, &head);
  change(worker, object, &head);
  struct kept *kept = &worker->kept[random_next(&worker->random) % kKept];
  let_go(worker, kept);
  *kept = (struct kept){object, head};
}

static void run(struct worker *worker, uint64_t operations) {
  const struct replay *replay = worker->replay;
  const struct stream *stream = replay->stream;
  struct work *work = worker->work;
  while (work->operations < operations && work->wrong[0] == '\0') {
    const uint32_t key = stream->order[worker->at];
    worker->at = worker->at + 1 == stream->length ? 0 : worker->at + 1;
    worker->now++;
    struct store_object *object =
        store_open(replay->store, stream->key[key], stream->key_bytes[key], worker->now);
    if (object != NULL)
      found(worker, object, key);
    else {
      /* A shared store that is to be rebuilt waits for all that is held. */
      let_go(worker, &worker->kept[work->operations % kKept]);
      if (!replay->options->check || owns(worker, key))
        put(worker, key);
    }
    work->operations++;
  }
}

/* What a machine that simulates this program is to measure begins when all threads are there. A
 * machine without a protocol, and any other, goes on as it was. */
static void begin_together(struct worker *worker) {
  pthread_barrier_t *start = worker->replay->start;
  if (start == NULL)
    return;
  if (pthread_barrier_wait(start) == PTHREAD_BARRIER_SERIAL_THREAD) {
    TANDEM_MACHINE_TIMING();
    TANDEM_MACHINE_BEGIN(0);
  }
  pthread_barrier_wait(start);
}

static void end_together(struct worker *worker) {
  pthread_barrier_t *start = worker->replay->start;
  if (start != NULL && pthread_barrier_wait(start) == PTHREAD_BARRIER_SERIAL_THREAD) {
    TANDEM_MACHINE_END(0);
    TANDEM_MACHINE_FUNCTIONAL();
  }
}

void worker_run(const struct replay *replay, struct work *work) {
  struct worker worker = {.replay = replay, .work = work};
  worker.random = replay->options->seed + work->number + ((uint64_t)work->incarnation << 32);
  worker.knowledge.version = calloc(replay->stream->keys, sizeof(uint32_t));
  worker.knowledge.gone = calloc(replay->stream->keys, sizeof(bool));
  worker.piece = malloc(kPiece);
  if (worker.knowledge.version == NULL || worker.knowledge.gone == NULL || worker.piece == NULL)
    fail(&worker, "there is not enough memory", 0);
  worker.at = replay->stream->length / replay->workers * work->number;
  run(&worker, replay->options->warm_up);
  work->operations = work->hits = work->stores = work->compared = 0;
  begin_together(&worker);
  work->begin_s = seconds();
  run(&worker, replay->options->operations);
  work->end_s = seconds();
  end_together(&worker);
  for (int i = 0; i < kKept; i++)
    let_go(&worker, &worker.kept[i]);
  free(worker.knowledge.version);
  free(worker.knowledge.gone);
  free(worker.piece);
}
