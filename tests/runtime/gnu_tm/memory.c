/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * What a thread that has had short transactions takes of memory: mapped (VmData) and touched
 * (Anonymous), bytes a thread, over what it had before its first one. argv[1]: threads. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

static pthread_barrier_t barrier;
static long cells[64];

/* Of a file in /proc, the line that begins with `name`, in bytes. */
static long bytes_of(const char *path, const char *name) {
  FILE *file = fopen(path, "r");
  EXPECT(file != NULL);
  char line[256];
  long kilobytes = -1;
  while (fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, name, strlen(name)) == 0)
      kilobytes = atol(line + strlen(name));
  fclose(file);
  EXPECT(kilobytes >= 0);
  return kilobytes * 1024;
}

static void *run(void *argument) {
  long own = (long)argument;
  pthread_barrier_wait(&barrier); /* measured: without transactions */
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < 4; ++i)
    __transaction_atomic {
      long sum = 0;
      for (int k = 0; k < 8; ++k)
        sum += cells[(own + k) % 64];
      cells[own % 64] += sum >= 0;
      cells[(own + 9) % 64] += sum < 0;
    }
  pthread_barrier_wait(&barrier); /* measured */
  pthread_barrier_wait(&barrier);
  return NULL;
}

int main(int argc, char **argv) {
  long count = argc > 1 ? atol(argv[1]) : 1000;
  pthread_t *threads = calloc((size_t)count, sizeof *threads);
  pthread_attr_t attributes;
  EXPECT(threads != NULL && pthread_attr_init(&attributes) == 0 &&
         pthread_attr_setstacksize(&attributes, 128 << 10) == 0);
  EXPECT(pthread_barrier_init(&barrier, NULL, (unsigned)count + 1) == 0);
  for (long i = 0; i < count; ++i)
    EXPECT(pthread_create(&threads[i], &attributes, run, (void *)i) == 0);
  long mapped[2];
  long touched[2];
  for (int k = 0; k < 2; ++k) {
    pthread_barrier_wait(&barrier);
    mapped[k] = bytes_of("/proc/self/status", "VmData:");
    touched[k] = bytes_of("/proc/self/smaps_rollup", "Anonymous:");
    pthread_barrier_wait(&barrier);
  }
  for (long i = 0; i < count; ++i)
    EXPECT(pthread_join(threads[i], NULL) == 0);
  long sum = 0;
  for (int i = 0; i < 64; ++i)
    sum += cells[i];
  EXPECT(sum == 4 * count);
  printf("mapped %ld touched %ld\n", (mapped[1] - mapped[0]) / count,
         (touched[1] - touched[0]) / count);
  return 0;
}
