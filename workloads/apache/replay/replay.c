/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A stream of a cache's operations on the store, in process: see options.c. Status 0; 1 where
 * something wrong was found; 2 for the user's mistake.
 */
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct job {
  const struct replay *replay;
  struct work *work;
};

static void *begin(void *argument) {
  const struct job *job = argument;
  worker_run(job->replay, job->work);
  return NULL;
}

static void run_threads(const struct replay *replay, struct work *work, uint32_t count) {
  pthread_t threads[256];
  struct job jobs[256];
  for (uint32_t i = 0; i < count; i++) {
    jobs[i] = (struct job){replay, &work[i]};
    if (pthread_create(&threads[i], NULL, begin, &jobs[i]) != 0) {
      fputs("replay: a thread cannot be created\n", stderr);
      exit(1);
    }
  }
  for (uint32_t i = 0; i < count; i++)
    pthread_join(threads[i], NULL);
}

static pid_t start_process(const struct replay *replay, struct work *work) {
  const pid_t child = fork();
  if (child != 0)
    return child;
  if (!store_join(replay->store))
    _exit(3);
  run_threads(replay, work, replay->options->threads);
  store_leave(replay->store);
  _exit(0);
}

/* Where nothing was killed: all must have ended by themselves. Result: whether they did. */
static bool run_processes(const struct replay *replay, struct work *work) {
  const struct options *options = replay->options;
  pid_t children[64];
  uint64_t random = options->seed;
  bool well = true;
  for (uint32_t i = 0; i < options->processes; i++)
    children[i] = start_process(replay, &work[i * options->threads]);
  for (uint32_t kill_number = 0; kill_number < options->kills; kill_number++) {
    nanosleep(&(struct timespec){.tv_nsec = (long)(random_next(&random) % 20000000)}, NULL);
    const uint32_t i = (uint32_t)(random_next(&random) % options->processes);
    kill(children[i], SIGKILL);
    waitpid(children[i], NULL, 0);
    struct work *its = &work[i * options->threads];
    for (uint32_t j = 0; j < options->threads; j++) {
      its[j].incarnation++;
      its[j].operations = 0;
    }
    children[i] = start_process(replay, its);
  }
  for (uint32_t i = 0; i < options->processes; i++) {
    int status = 0;
    waitpid(children[i], &status, 0);
    if (status != 0) {
      fprintf(stderr, "replay: a process ended with %s %d (seed %llu)\n",
              WIFSIGNALED(status) ? "signal" : "status",
              WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
              (unsigned long long)options->seed);
      well = false;
    }
  }
  return well;
}

static void print(const struct options *options, const struct work *sum, double wall_s,
                  const struct store_counts *counts) {
  struct rusage usage, children;
  getrusage(RUSAGE_SELF, &usage);
  getrusage(RUSAGE_CHILDREN, &children);
  const double user = (double)(usage.ru_utime.tv_sec + children.ru_utime.tv_sec) +
                      1e-6 * (double)(usage.ru_utime.tv_usec + children.ru_utime.tv_usec);
  printf("{\"version\": 1, \"enforcement\": \"%s\", \"threads\": %u, \"processes\": %u, "
         "\"operations\": %llu, \"seconds\": %.6f, \"user_seconds\": %.6f, "
         "\"operations_per_second\": %.0f, \"hits\": %llu, \"hit_rate\": %.6f, \"stores\": %llu, "
         "\"compared\": %llu, \"evictions\": %llu, \"removals\": %llu, \"refusals\": %llu, "
         "\"rebuilds\": %llu, \"linked\": %llu, \"charged\": %llu, \"seed\": %llu}\n",
         store_variant(), options->threads, options->processes, (unsigned long long)sum->operations,
         wall_s, user, (double)sum->operations / wall_s, (unsigned long long)sum->hits,
         (double)sum->hits / (double)sum->operations, (unsigned long long)sum->stores,
         (unsigned long long)sum->compared, (unsigned long long)counts->evictions,
         (unsigned long long)counts->removals, (unsigned long long)counts->refusals,
         (unsigned long long)counts->rebuilds, (unsigned long long)counts->linked,
         (unsigned long long)counts->charged, (unsigned long long)options->seed);
}

/* Sums them up, prints; whether all was right. */
static bool conclude(const struct replay *replay, const struct work *work, bool well) {
  struct work sum = {0};
  double begin_s = work[0].begin_s, end_s = work[0].end_s;
  for (uint32_t i = 0; i < replay->workers; i++) {
    sum.operations += work[i].operations;
    sum.hits += work[i].hits;
    sum.stores += work[i].stores;
    sum.compared += work[i].compared;
    begin_s = work[i].begin_s < begin_s ? work[i].begin_s : begin_s;
    end_s = work[i].end_s > end_s ? work[i].end_s : end_s;
    if (work[i].wrong[0] != '\0') {
      fprintf(stderr, "replay: thread %u: %s (seed %llu)\n", i, work[i].wrong,
              (unsigned long long)replay->options->seed);
      well = false;
    }
  }
  /* A process that was killed may have left a shared store broken: it is mended when it is used. */
  if (replay->options->processes != 0) {
    struct store_counts mended;
    store_count(replay->store, &mended);
  }
  const char *wrong = store_check(replay->store, 0);
  if (wrong != NULL) {
    fprintf(stderr, "replay: %s (seed %llu)\n", wrong, (unsigned long long)replay->options->seed);
    well = false;
  }
  struct store_counts counts;
  store_count(replay->store, &counts);
  print(replay->options, &sum, end_s - begin_s, &counts);
  return well;
}

static void make_stream(struct stream *stream, const struct options *options) {
  *stream = (struct stream){0};
  if (options->stream == NULL) {
    /* Long enough for each thread to have a part of its own, short enough to stay in the cache. */
    stream_zipf(stream, options->keys, options->s, 100000, options->seed);
    return;
  }
  const char *wrong = stream_read(stream, options->stream, options->seed);
  if (wrong != NULL) {
    fprintf(stderr, "replay: %s: %s\n", options->stream, wrong);
    exit(2);
  }
}

int main(int count, char **words) {
  const struct options options = options_read(count, words);
  struct stream stream;
  make_stream(&stream, &options);
  struct replay replay = {.options = &options, .stream = &stream, .filler = calloc(1, 8192)};
  replay.workers = options.threads * (options.processes != 0 ? options.processes : 1);
  struct work *work = mmap(NULL, replay.workers * sizeof *work, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  replay.store = store_create(&options.store);
  if (replay.store == NULL || work == MAP_FAILED || replay.filler == NULL) {
    fprintf(stderr, "replay: the store cannot be made: %s\n", strerror(errno));
    return 2;
  }
  for (uint32_t i = 0; i < replay.workers; i++)
    work[i].number = i;
  bool well = true;
  pthread_barrier_t start;
  if (options.processes != 0)
    well = run_processes(&replay, work);
  else {
    pthread_barrier_init(&start, NULL, options.threads);
    replay.start = &start;
    run_threads(&replay, work, options.threads);
  }
  well = conclude(&replay, work, well);
  store_destroy(replay.store);
  stream_free(&stream);
  free((void *)replay.filler);
  return well ? 0 : 1;
}
