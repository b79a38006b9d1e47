// An address that functions get of which nothing is known may come back from them.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cc -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s \
// DEFINE:     && env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = passed
// RUN: %{check}
// REDEFINE: %{kind} = kept
// RUN: %{check}
// REDEFINE: %{kind} = epoll
// RUN: %{check}
// REDEFINE: %{kind} = signal
// RUN: %{check}
// REDEFINE: %{kind} = mapped
// RUN: %{check}
// REDEFINE: %{kind} = moved
// RUN: %{check}
// REDEFINE: %{kind} = thread
// RUN: %{check}
// REDEFINE: %{kind} = joined
// RUN: %{check}
// REDEFINE: %{kind} = called
// RUN: %{check}
// REDEFINE: %{kind} = halves
// RUN: %{check}
// REDEFINE: %{kind} = real
// RUN: %{check}
// REDEFINE: %{kind} = context
// RUN: %{check}
#define ALIGNED 4096
#include "Inputs/hidden.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

uint64_t nothing_known_of(uint64_t number);
#if defined(KIND_passed)
static uint64_t kept;
static void hide(long *p) { kept = nothing_known_of((uint64_t)p ^ 1); }
static long *found(void) { return (long *)(kept ^ 1); }
#elif defined(KIND_kept)
static void hide(long *p) { nothing_known_of((uint64_t)p * 2); }
static long *found(void) { return (long *)(nothing_known_of(0) / 2); }
#elif defined(KIND_epoll)
static int set, ends[2];
static void hide(long *p) {
  set = epoll_create1(0);
  (void)!pipe(ends);
  struct epoll_event event = {.events = EPOLLOUT, .data.u64 = (uint64_t)p << 4};
  epoll_ctl(set, EPOLL_CTL_ADD, ends[1], &event);
}
static long *found(void) {
  struct epoll_event event;
  epoll_wait(set, &event, 1, -1);
  return (long *)(event.data.u64 >> 4);
}
#elif defined(KIND_signal)
static long *volatile seen;
static void handle(int number, siginfo_t *info, void *context) {
  (void)number, (void)context;
  seen = (long *)((uint64_t)info->si_value.sival_ptr ^ 3);
}
static void hide(long *p) {
  struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO};
  sigaction(SIGUSR1, &action, 0);
  union sigval value = {.sival_ptr = (void *)((uint64_t)p ^ 3)};
  sigqueue(getpid(), SIGUSR1, value);
}
static long *found(void) { return seen; }
#elif defined(KIND_mapped)
static long *view;
static void hide(long *p) {
  int file = memfd_create("shared", 0);
  (void)!ftruncate(file, 4096);
  view = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  mmap(p, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
}
static long *found(void) { return view; }
#elif defined(KIND_moved)
static long *view;
static void hide(long *p) {
  char *room = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  view = mremap(p, 0, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, room);
  if (view == MAP_FAILED)
    view = p;
}
static long *found(void) { return view; }
#elif defined(KIND_thread)
static long *volatile seen;
static void *start(void *number) {
  seen = (long *)((uint64_t)number >> 1);
  return (void *)((uint64_t)number ^ 1);
}
static void hide(long *p) {
  pthread_t thread;
  pthread_create(&thread, 0, start, (void *)((uint64_t)p << 1));
  pthread_join(thread, 0);
}
static long *found(void) { return seen; }
#elif defined(KIND_joined)
static void *start(void *number) { return (void *)((uint64_t)number ^ 0x30); }
static void *result;
static void hide(long *p) {
  pthread_t thread;
  pthread_create(&thread, 0, start, p);
  pthread_join(thread, &result);
}
static long *found(void) { return (long *)((uint64_t)result ^ 0x30); }
#elif defined(KIND_called)
static long *volatile seen;
void call_later(void (*function)(uint64_t), uint64_t number);
static void later(uint64_t number) { seen = (long *)(number ^ 5); }
static void hide(long *p) { call_later(later, (uint64_t)p ^ 5); }
static long *found(void) { return seen; }
#elif defined(KIND_halves)
static long *volatile seen;
void call_with_halves(void (*function)(uint32_t, uint32_t), uint32_t low, uint32_t high);
static void later(uint32_t low, uint32_t high) { seen = (long *)(low | (uint64_t)high << 32); }
static void hide(long *p) { call_with_halves(later, (uint32_t)(uint64_t)p, (uint64_t)p >> 32); }
static long *found(void) { return seen; }
#elif defined(KIND_real)
static long *volatile seen;
void call_with_real(void (*function)(double), double number);
static void later(double number) { memcpy((void *)&seen, &number, sizeof number); }
static void hide(long *p) {
  double number;
  memcpy(&number, &p, sizeof number);
  call_with_real(later, number);
}
static long *found(void) { return seen; }
#elif defined(KIND_context)
static long *volatile seen;
static ucontext_t back, there;
static char stack[65536];
static void start(unsigned low, unsigned high) { seen = (long *)(low | (uint64_t)high << 32); }
static void hide(long *p) {
  getcontext(&there);
  there.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
  there.uc_link = &back;
  makecontext(&there, (void (*)(void))start, 2, (uint32_t)(uint64_t)p, (uint32_t)((uint64_t)p >> 32));
  swapcontext(&back, &there);
}
static long *found(void) { return seen; }
#endif
// CHECK-DAG: edge mine theirs
