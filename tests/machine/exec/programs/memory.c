// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory calls: maps, unmaps, protects, moves, drops; faults become signals with their address.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("line %d: %s, errno %d\n", __LINE__, #condition, errno);                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static sigjmp_buf back;
static volatile void *fault;
static volatile int signal_of;
static volatile int code_of;

static void on_fault(int signal, siginfo_t *info, void *context) {
  (void)context;
  signal_of = signal;
  code_of = info->si_code;
  fault = info->si_addr;
  siglongjmp(back, 1);
}

static void expect_fault(volatile char *place, int writes, int signal, int code) {
  signal_of = 0;
  if (sigsetjmp(back, 1) == 0) {
    if (writes)
      *place = 1;
    else
      (void)*place;
  }
  EXPECT(signal_of == signal);
  EXPECT(code_of == code);
  EXPECT(fault == place);
}

static void anonymous(void) {
  char *page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT(page != MAP_FAILED);
  for (int i = 0; i < 3 * 4096; ++i)
    EXPECT(page[i] == 0);
  memset(page, 'x', 3 * 4096);
  EXPECT(mprotect(page + 4096, 4096, PROT_READ) == 0);
  EXPECT(page[4096] == 'x');
  expect_fault(page + 4100, 1, SIGSEGV, SEGV_ACCERR);
  EXPECT(mprotect(page + 4096, 4096, PROT_NONE) == 0);
  expect_fault(page + 4100, 0, SIGSEGV, SEGV_ACCERR);
  EXPECT(mprotect(page + 4096, 4096, PROT_READ | PROT_WRITE) == 0);
  EXPECT(page[4100] == 'x');
  EXPECT(munmap(page + 4096, 4096) == 0);
  expect_fault(page + 4096, 0, SIGSEGV, SEGV_MAPERR);
  EXPECT(page[0] == 'x' && page[8192] == 'x');
  EXPECT(madvise(page, 4096, MADV_DONTNEED) == 0);
  EXPECT(page[0] == 0);
  EXPECT(mprotect(page, 3 * 4096, PROT_READ) == -1 && errno == ENOMEM); // a hole
  EXPECT(munmap(page + 1, 4096) == -1 && errno == EINVAL);
  EXPECT(mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
}

static void moving(void) {
  char *small = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  strcpy(small, "kept");
  char *large = mremap(small, 4096, 64 * 4096, MREMAP_MAYMOVE);
  EXPECT(large != MAP_FAILED && strcmp(large, "kept") == 0);
  large[63 * 4096] = 'e';
  EXPECT(mremap(large, 64 * 4096, 4096, 0) == large);
  expect_fault(large + 4096, 0, SIGSEGV, SEGV_MAPERR);
  char *block = malloc(1 << 20);
  memset(block, 'm', 1 << 20);
  block = realloc(block, 1 << 22);
  for (int i = 0; i < 1 << 20; ++i)
    EXPECT(block[i] == 'm');
  free(block);
  void *before = sbrk(0);
  EXPECT(sbrk(10000) == before);
  memset(before, 1, 10000);
  EXPECT(sbrk(-10000) == (char *)before + 10000);
}

static void files(void) {
  int file = open("/tmp/mapped-by-a-guest", O_RDWR | O_CREAT | O_TRUNC, 0600);
  EXPECT(file >= 0);
  EXPECT(write(file, "hello", 5) == 5);
  char *private = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  EXPECT(memcmp(private, "hello\0", 6) == 0);
  private[0] = 'j';
  char *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  EXPECT(shared[0] == 'h');
  shared[1] = 'a';
  EXPECT(msync(shared, 4096, MS_SYNC) == 0);
  char text[6] = "";
  EXPECT(pread(file, text, 5, 0) == 5 && strcmp(text, "hallo") == 0);
  shared[2] = 'x';
  EXPECT(munmap(shared, 4096) == 0);
  EXPECT(pread(file, text, 5, 0) == 5 && strcmp(text, "haxlo") == 0);
  expect_fault(private + 4096, 0, SIGBUS, BUS_ADRERR); // beyond the file
  int reader = open("/tmp/mapped-by-a-guest", O_RDONLY);
  EXPECT(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, reader, 0) == MAP_FAILED && errno == EACCES);
  EXPECT(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, 77, 0) == MAP_FAILED && errno == EBADF);
}

int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  anonymous();
  moving();
  files();
  expect_fault((char *)8, 1, SIGSEGV, SEGV_MAPERR);
  puts("memory: ok");
  return 0;
}
