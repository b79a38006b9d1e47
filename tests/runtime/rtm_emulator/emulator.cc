// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intel's RTM on a processor without it, for tests: a library that is preloaded. XBEGIN, XEND,
// XABORT and XTEST are invalid instructions there; the handler of SIGILL does what they say.
//
//     isolation   One thread of the process runs at a time; it has the *baton*, and the others wait
//                 for it in a handler or in a wrapper below. A timer, and chance at XBEGIN and
//                 XEND, pass it on, but never inside a transaction.
//     undoing     XBEGIN makes all writable memory read-only. The first write to a page faults; the
//                 handler copies the page and makes it writable. An abort puts the copies back, and
//                 the registers of XBEGIN with the vectors.
//     aborts      XABORT; a system call (syscall user dispatch); a fault; more pages than a limit;
//                 a transaction that lasts; and as chance has it: conflicts, with and without the
//                 bit that says to try again, and capacity, at XBEGIN or after some pages.
//
// What it does not show: conflicts between transactions that run at the same time, and how the
// processor orders accesses. tests/runtime/protocols.py has those.
//
//     GLIBC_TUNABLES=glibc.pthread.rseq=0   needed: the kernel writes to that memory at any time
//     RTM_EMULATOR_SEED, _ABORTS (per cent of the transactions; 10), _PAGES (512)
//     RTM_EMULATOR_REPORT=FILE   appends a line with counts at exit
//
// Here: the process. decode.cc has the handlers, memory.cc undoing, threads.cc isolation.
#include "state.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>

// glibc's: bytes of what it shares with the kernel. NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" [[gnu::weak]] const unsigned __rseq_size;

// NOLINTBEGIN(performance-no-int-to-ptr): addresses come from the kernel, as numbers

namespace tandem::rtm_emulator {

Arena *arena;
std::atomic<std::size_t> slots_end{0};
std::uint64_t chance_state = 1;
unsigned aborts_per_cent = 10;
std::size_t most_pages = 512;
int pid = 0;
bool tick_pending = false;
pthread_key_t exit_key;
Range excluded[2];           // the arena, and this library's data
std::uintptr_t text_low = 0; // this library's code, which may call the system
std::uintptr_t text_high = 0;
Counts counts;

namespace {

constexpr long kTickNs = 500'000;
std::uint64_t seed = 1;
const char *report = nullptr;
timer_t timer;

// The kernel's; glibc's returns through its own code, which may not call the system here.
struct Action {
  void (*handler)(int, siginfo_t *, void *);
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};
constexpr unsigned long kRestorer = 0x04000000;

[[gnu::naked]] void restore() { __asm__("movq %0, %%rax\n\tsyscall" : : "i"(SYS_rt_sigreturn)); }

void install(int number, void (*handler)(int, siginfo_t *, void *)) noexcept {
  const Action action = {handler, SA_SIGINFO | SA_ONSTACK | SA_RESTART | kRestorer, restore,
                         ~std::uint64_t{0}};
  if (call(SYS_rt_sigaction, number, at(&action), 0, sizeof action.mask) != 0)
    die("a handler cannot be installed");
}

void start_timer() noexcept {
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = kTick;
  const itimerspec often = {{0, kTickNs}, {0, kTickNs}};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
      timer_settime(timer, 0, &often, nullptr) != 0)
    die("there is no timer");
}

void after_fork_in_child() {
  const std::size_t own = slot_of_thread();
  pid = static_cast<int>(call(SYS_getpid));
  for (std::size_t i = 0; i < slots_end.load(std::memory_order_relaxed); ++i)
    if (i != own)
      slot(i).life.store(Life::none, std::memory_order_relaxed);
  counts = {};
  adopt_thread(own);
  slot(own).has_baton = true;
  start_timer();
}

int find_own(dl_phdr_info *info, std::size_t, void *) {
  const auto here = reinterpret_cast<std::uintptr_t>(&find_own);
  bool own = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = info->dlpi_phdr[i];
    own = own || (part.p_type == PT_LOAD && here - info->dlpi_addr - part.p_vaddr < part.p_memsz);
  }
  for (int i = 0; own && i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) &part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD)
      continue;
    const std::uintptr_t low = info->dlpi_addr + part.p_vaddr;
    const std::uintptr_t high = low + part.p_memsz;
    if ((part.p_flags & PF_X) != 0) {
      text_low = low;
      text_high = high;
    } else if ((part.p_flags & PF_W) != 0) {
      excluded[1].low = excluded[1].low == 0 ? low & ~(kPage - 1) : excluded[1].low;
      excluded[1].high = (high + kPage - 1) & ~(kPage - 1);
    }
  }
  return own ? 1 : 0;
}

std::uint64_t number_in(const char *variable, std::uint64_t otherwise) {
  const char *text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 0);
}

// Before main, or before that by the library under test, whichever comes first.
[[gnu::constructor]] void prepare() {
  if (arena != nullptr)
    return;
  if (&__rseq_size != nullptr && __rseq_size != 0)
    die("set GLIBC_TUNABLES=glibc.pthread.rseq=0");
  void *memory = mmap(nullptr, sizeof(Arena), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    die("no memory");
  pid = static_cast<int>(call(SYS_getpid));
  seed = number_in("RTM_EMULATOR_SEED", 1);
  chance_state = seed * 0x9e3779b97f4a7c15U + 1;
  aborts_per_cent = static_cast<unsigned>(number_in("RTM_EMULATOR_ABORTS", 10));
  most_pages = std::min(kMostPages, number_in("RTM_EMULATOR_PAGES", 512));
  report = std::getenv("RTM_EMULATOR_REPORT");
  excluded[0] = {reinterpret_cast<std::uintptr_t>(memory),
                 reinterpret_cast<std::uintptr_t>(memory) + sizeof(Arena), 0};
  dl_iterate_phdr(find_own, nullptr);
  if (pthread_key_create(&exit_key, on_exit) != 0 ||
      pthread_atfork(nullptr, nullptr, after_fork_in_child) != 0)
    die("cannot start");
  arena = static_cast<Arena *>(memory);
  adopt_thread(free_slot());
  slot(0).life.store(Life::alive, std::memory_order_relaxed);
  slot(0).has_baton = true;
  install(SIGILL, on_illegal);
  install(SIGSEGV, on_fault);
  install(SIGSYS, on_system_call);
  install(kTick, on_tick);
  start_timer();
}

[[gnu::destructor]] void write_report() {
  if (report == nullptr || arena == nullptr)
    return;
  std::FILE *file = std::fopen(report, "a");
  if (file == nullptr)
    return;
  std::fprintf(file, "seed %llu begins %llu commits %llu conflicts %llu capacity %llu others %llu",
               static_cast<unsigned long long>(seed), counts.begins, counts.commits,
               counts.conflicts, counts.capacity, counts.others);
  for (std::size_t i = 0; i < kCodes; ++i)
    std::fprintf(file, " code%zu %llu", i, counts.explicitly[i]);
  std::fprintf(file, "\n");
  std::fclose(file);
}

} // namespace

void restore_default(int number) noexcept {
  const Action action = {nullptr, kRestorer, restore, 0};
  call(SYS_rt_sigaction, number, at(&action), 0, sizeof action.mask);
}

void set_mask(int how, std::uint64_t mask, std::uint64_t *before) noexcept {
  call(SYS_rt_sigprocmask, how, at(&mask), at(before), sizeof mask);
}

} // namespace tandem::rtm_emulator

// What src/runtime/algorithms/hardware.cc asks for.
extern "C" __attribute__((visibility("default"))) bool tandem_rtm_is_emulated() noexcept {
  tandem::rtm_emulator::prepare();
  return true;
}

// NOLINTEND(performance-no-int-to-ptr)
