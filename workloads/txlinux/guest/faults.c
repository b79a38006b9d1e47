// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// faults THREADS PAGES: threads of one process touch fresh pages, each in a stretch of its own,
// give them back and touch them again: page tables of one address space. Status 1 where a page is
// not what its thread has made it.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { kPage = 4096, kRounds = 4 };

static long pages;

static void *touch(void *number) {
  const uint64_t mine = (uint64_t)(uintptr_t)number + 1;
  char *stretch =
      mmap(NULL, (size_t)pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stretch == MAP_FAILED)
    return "";
  for (int round = 0; round < kRounds; ++round) {
    for (long i = 0; i < pages; ++i) {
      volatile uint64_t *word = (volatile uint64_t *)(stretch + i * kPage);
      if (*word != 0)
        return "";
      *word = mine << 32 | (uint64_t)i;
    }
    for (long i = 0; i < pages; ++i)
      if (*(volatile uint64_t *)(stretch + i * kPage) != (mine << 32 | (uint64_t)i))
        return "";
    if (madvise(stretch, (size_t)pages * kPage, MADV_DONTNEED) != 0)
      return "";
  }
  return munmap(stretch, (size_t)pages * kPage) == 0 ? NULL : "";
}

int main(int argc, char **argv) {
  const long count = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
  pages = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
  if (count < 1 || count > 64 || pages < 1 || pages > 4096)
    return 2;
  pthread_t threads[64];
  for (long i = 0; i < count; ++i)
    if (pthread_create(&threads[i], NULL, touch, (void *)i) != 0)
      return 1;
  int status = 0;
  for (long i = 0; i < count; ++i) {
    void *wrong = NULL;
    pthread_join(threads[i], &wrong);
    if (wrong != NULL)
      status = 1;
  }
  return status;
}
