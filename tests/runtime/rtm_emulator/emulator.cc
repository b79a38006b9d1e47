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
//     a
//                 transaction that lasts; and as chance has it: conflicts, with and without the bit
//                 that says to try again, and capacity, at XBEGIN or after some pages.
//
// What it does not show: conflicts between transactions that run at the same time, and how the
// processor orders accesses. tests/runtime/protocols.py has those.
//
//     GLIBC_TUNABLES=glibc.pthread.rseq=0   needed: the kernel writes to that memory at any time
//     RTM_EMULATOR_SEED, _ABORTS (per cent of the transactions; 10), _PAGES (512)
//     RTM_EMULATOR_REPORT=FILE   appends a line with counts at exit
//
// Handlers call nothing of the C library but memory copies, and write only to `arena`, the
// emulator's own data and the memory of the undone transaction: all else may be read-only.
#include "emulator.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

// glibc's: bytes of what it shares with the kernel. NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" [[gnu::weak]] const unsigned __rseq_size;

// NOLINTBEGIN(performance-no-int-to-ptr): addresses come from the kernel, as numbers

namespace tandem::rtm_emulator {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kSlots = 1024;      // threads that live at the same time
constexpr std::size_t kStack = 64 * 1024; // of a handler
constexpr std::size_t kMostRanges = 4096;
constexpr std::size_t kMostPages = 4096;
constexpr std::size_t kMapsBytes = 1 << 20;
constexpr std::size_t kVectorBytes = 16 * 1024;
constexpr int kTick = 50; // a real-time signal that no test uses
constexpr long kTickNs = 500'000;
constexpr std::uint32_t kMostTicks = 50; // of one transaction

enum class Life : std::uint32_t { none, alive, dying };

struct alignas(128) Slot {
  std::atomic<Life> life;
  std::atomic<std::uint32_t> runs;  // it is given the baton
  std::atomic<std::uint32_t> ready; // a new thread has come to its trampoline
  int tid;
  char selector; // of syscall user dispatch
  std::uint32_t destructions;
  std::uint64_t fault; // the last one that was none of a transaction
  void *(*start)(void *);
  void *argument;
};

struct Range {
  std::uintptr_t low;
  std::uintptr_t high;
  int protection;
};

// The transaction; there is one at a time.
struct Transaction {
  std::atomic<bool> active;
  std::size_t slot;
  std::uint32_t nested;
  std::uint32_t ticks;
  std::uintptr_t fallback;
  std::uint64_t faults_left; // until an abort that chance has decided; 0: none
  std::uint32_t chosen;      // its status
  std::size_t ranges;
  std::size_t pages;
  gregset_t registers;
  std::size_t vector_bytes;
};

struct Arena {
  Slot slots[kSlots];
  Transaction transaction;
  Range ranges[kMostRanges];
  std::uintptr_t places[kMostPages];
  alignas(64) std::uint8_t vectors[kVectorBytes];
  char maps[kMapsBytes];
  alignas(kPage) std::uint8_t copies[kMostPages][kPage];
  alignas(kPage) std::uint8_t stacks[kSlots][kStack];
};

Arena *arena;
std::atomic<std::size_t> slots_end{0};
std::uint64_t chance_state = 1;
std::uint64_t seed = 1;
unsigned aborts_per_cent = 10;
std::size_t most_pages = 512;
const char *report = nullptr;
int pid = 0;
bool tick_pending = false;
pthread_key_t exit_key;
timer_t timer;
Range excluded[2];           // the arena, and this library's data
std::uintptr_t text_low = 0; // this library's code, which may call the system
std::uintptr_t text_high = 0;
Counts counts;

// --- the system, without errno

long call(long number, long a = 0, long b = 0, long c = 0, long d = 0) noexcept {
  long result;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return result;
}
template <class T> long at(T *pointer) noexcept { return reinterpret_cast<long>(pointer); }

[[noreturn]] void die(const char *why) noexcept {
  call(SYS_write, 2, at("rtm emulator: "), 14);
  call(SYS_write, 2, at(why), static_cast<long>(__builtin_strlen(why)));
  call(SYS_write, 2, at("\n"), 1);
  call(SYS_exit_group, 3);
  __builtin_unreachable();
}

void wait_on(std::atomic<std::uint32_t> &word, std::uint32_t value) noexcept {
  call(SYS_futex, at(&word), FUTEX_WAIT_PRIVATE, value, 0);
}
void wake(std::atomic<std::uint32_t> &word) noexcept {
  call(SYS_futex, at(&word), FUTEX_WAKE_PRIVATE, 1);
}
void nap() noexcept {
  const timespec time = {0, 20'000};
  call(SYS_nanosleep, at(&time));
}

std::uint64_t random() noexcept {
  chance_state ^= chance_state >> 12;
  chance_state ^= chance_state << 25;
  chance_state ^= chance_state >> 27;
  return (chance_state * 0x2545f4914f6cdd1dU) >> 11;
}
bool chance(unsigned per_cent) noexcept { return random() % 100 < per_cent; }

// --- the baton

Slot &slot(std::size_t index) noexcept { return arena->slots[index]; }

// In a handler: whose stack this is.
std::size_t own_slot() noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return (here - reinterpret_cast<std::uintptr_t>(arena->stacks)) / kStack;
}

void take(std::size_t index) noexcept {
  while (slot(index).runs.load(std::memory_order_acquire) == 0)
    wait_on(slot(index).runs, 0);
  slot(index).runs.store(0, std::memory_order_relaxed);
}

// Gives the baton to another thread; false where there is none.
bool give(std::size_t own) noexcept {
  const std::size_t end = slots_end.load(std::memory_order_acquire);
  const std::size_t first = random() % end;
  for (std::size_t i = 0; i < end; ++i) {
    const std::size_t next = (first + i) % end;
    if (next == own || slot(next).life.load(std::memory_order_acquire) != Life::alive)
      continue;
    slot(next).runs.store(1, std::memory_order_release);
    wake(slot(next).runs);
    return true;
  }
  return false;
}

// The calling thread has the baton, and the tick blocked.
void pass_on(std::size_t own) noexcept {
  tick_pending = false;
  if (give(own))
    take(own);
}

// A thread that has given the baton up for good is in the C library's code for the end of a thread,
// and the kernel writes to its memory when it is gone: no memory may be read-only then.
void wait_for_dying(std::size_t own) noexcept {
  for (std::size_t i = 0; i < slots_end.load(std::memory_order_acquire); ++i)
    while (slot(i).life.load(std::memory_order_acquire) == Life::dying) {
      if (call(SYS_tgkill, pid, slot(i).tid, 0) == -ESRCH) {
        slot(i).life.store(Life::none, std::memory_order_release);
        break;
      }
      nap();
      pass_on(own); // it may wait for one of them
    }
}

// --- memory

std::uintptr_t hexadecimal(const char *&text) noexcept {
  std::uintptr_t value = 0;
  for (;; ++text) {
    if (*text >= '0' && *text <= '9')
      value = value << 4 | static_cast<std::uintptr_t>(*text - '0');
    else if (*text >= 'a' && *text <= 'f')
      value = value << 4 | static_cast<std::uintptr_t>(*text - 'a' + 10);
    else
      return value;
  }
}

void add_range(std::uintptr_t low, std::uintptr_t high, int protection) noexcept {
  for (const Range &hole : excluded)
    if (low < hole.high && hole.low < high) {
      if (low < hole.low)
        add_range(low, hole.low, protection);
      if (hole.high < high)
        add_range(hole.high, high, protection);
      return;
    }
  std::size_t &count = arena->transaction.ranges;
  if (count != 0 && arena->ranges[count - 1].high == low &&
      arena->ranges[count - 1].protection == protection) {
    arena->ranges[count - 1].high = high;
    return;
  }
  if (count == kMostRanges)
    die("too many mappings");
  arena->ranges[count++] = {low, high, protection};
}

void find_writable_memory() noexcept {
  const long file = call(SYS_open, at("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  std::size_t bytes = 0;
  for (long got = 1; got > 0;) {
    got = call(SYS_read, file, at(arena->maps + bytes), static_cast<long>(kMapsBytes - 1 - bytes));
    bytes += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  call(SYS_close, file);
  if (bytes == 0 || bytes == kMapsBytes - 1)
    die("/proc/self/maps cannot be read");
  arena->maps[bytes] = '\0';
  arena->transaction.ranges = 0;
  for (const char *line = arena->maps; *line != '\0'; ++line) {
    const std::uintptr_t low = hexadecimal(line);
    const std::uintptr_t high = hexadecimal(++line);
    if (line[1] == 'r' && line[2] == 'w')
      add_range(low, high, PROT_READ | PROT_WRITE | (line[3] == 'x' ? PROT_EXEC : 0));
    while (*line != '\n')
      ++line;
  }
}

void protect(const Range &range, int protection) noexcept {
  if (call(SYS_mprotect, static_cast<long>(range.low), static_cast<long>(range.high - range.low),
           protection) != 0)
    die("memory cannot be protected");
}

// --- transactions

void end_transaction() noexcept {
  Transaction &transaction = arena->transaction;
  for (std::size_t i = 0; i < transaction.ranges; ++i)
    protect(arena->ranges[i], arena->ranges[i].protection);
  slot(transaction.slot).selector = SYSCALL_DISPATCH_FILTER_ALLOW;
  transaction.active.store(false, std::memory_order_release);
}

std::size_t vector_bytes(const ucontext_t &context) noexcept {
  // Source: Linux, arch/x86/include/uapi/asm/sigcontext.h, struct _fpx_sw_bytes.
  constexpr std::size_t kSoftware = 464;
  constexpr std::uint32_t kMagic = 0x46505853;
  std::uint32_t words[2];
  std::memcpy(words, reinterpret_cast<const char *>(context.uc_mcontext.fpregs) + kSoftware,
              sizeof words);
  return words[0] == kMagic ? words[1] : sizeof(*context.uc_mcontext.fpregs);
}

void undo(ucontext_t &context, std::uint32_t status) noexcept {
  Transaction &transaction = arena->transaction;
  for (std::size_t i = 0; i < transaction.pages; ++i)
    std::memcpy(reinterpret_cast<void *>(arena->places[i]), arena->copies[i], kPage);
  end_transaction();
  std::memcpy(context.uc_mcontext.gregs, transaction.registers, sizeof(gregset_t));
  std::memcpy(context.uc_mcontext.fpregs, arena->vectors, transaction.vector_bytes);
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(transaction.fallback);
  context.uc_mcontext.gregs[REG_RAX] = static_cast<greg_t>(status);
  if ((status & kExplicit) != 0)
    ++counts.explicitly[(status >> 24) % kCodes];
  else if ((status & kCapacity) != 0)
    ++counts.capacity;
  else if ((status & kConflict) != 0)
    ++counts.conflicts;
  else
    ++counts.others;
}

// An abort that chance has decided on, and when.
void inject() noexcept {
  constexpr std::uint32_t kKinds[] = {kConflict | kMayRetry, kConflict | kMayRetry, kConflict,
                                      kCapacity, 0};
  Transaction &transaction = arena->transaction;
  transaction.faults_left = 0;
  if (!chance(aborts_per_cent))
    return;
  transaction.chosen = kKinds[random() % (sizeof kKinds / sizeof *kKinds)];
  transaction.faults_left = 1 + random() % 6;
}

void begin(ucontext_t &context, std::size_t own) noexcept {
  constexpr greg_t kLength = 6;
  Transaction &transaction = arena->transaction;
  greg_t &next = context.uc_mcontext.gregs[REG_RIP];
  std::int32_t relative;
  std::memcpy(&relative, reinterpret_cast<const void *>(next + 2), sizeof relative);
  if (transaction.active.load(std::memory_order_relaxed)) {
    ++transaction.nested;
    next += kLength;
    return;
  }
  if (chance(5))
    pass_on(own);
  wait_for_dying(own);
  find_writable_memory();
  ++counts.begins;
  transaction.slot = own;
  transaction.nested = 0;
  transaction.ticks = 0;
  transaction.pages = 0;
  transaction.fallback = static_cast<std::uintptr_t>(next + kLength + relative);
  std::memcpy(transaction.registers, context.uc_mcontext.gregs, sizeof(gregset_t));
  transaction.vector_bytes = vector_bytes(context);
  if (transaction.vector_bytes > kVectorBytes)
    die("the vector registers are too large");
  std::memcpy(arena->vectors, context.uc_mcontext.fpregs, transaction.vector_bytes);
  inject();
  transaction.active.store(true, std::memory_order_release);
  slot(own).selector = SYSCALL_DISPATCH_FILTER_BLOCK;
  for (std::size_t i = 0; i < transaction.ranges; ++i)
    protect(arena->ranges[i], arena->ranges[i].protection & ~PROT_WRITE);
  next += kLength;
}

bool in_transaction(std::size_t own) noexcept {
  return arena->transaction.active.load(std::memory_order_acquire) &&
         arena->transaction.slot == own;
}

void restore_default(int number) noexcept;

void on_illegal(int number, siginfo_t *, void *given) {
  auto &context = *static_cast<ucontext_t *>(given);
  greg_t &next = context.uc_mcontext.gregs[REG_RIP];
  std::uint8_t code[3];
  std::memcpy(code, reinterpret_cast<const void *>(next), sizeof code);
  const std::size_t own = own_slot();
  const bool inside = in_transaction(own);
  if (code[0] == 0xc7 && code[1] == 0xf8)
    return begin(context, own);
  if (code[0] == 0xc6 && code[1] == 0xf8) {
    if (inside)
      return undo(context, kExplicit | static_cast<std::uint32_t>(code[2]) << 24);
    next += 3;
    return;
  }
  if (code[0] != 0x0f || code[1] != 0x01)
    return restore_default(number);
  if (code[2] == 0xd6) {
    constexpr greg_t kZero = 1 << 6;
    greg_t &flags = context.uc_mcontext.gregs[REG_EFL];
    flags = inside ? flags & ~kZero : flags | kZero;
    next += 3;
    return;
  }
  if (code[2] != 0xd5)
    return restore_default(number);
  if (!inside)
    die("XEND outside of a transaction");
  next += 3;
  if (arena->transaction.nested != 0) {
    --arena->transaction.nested;
    return;
  }
  end_transaction();
  ++counts.commits;
  if (tick_pending || chance(5))
    pass_on(own);
}

void on_fault(int number, siginfo_t *info, void *given) {
  auto &context = *static_cast<ucontext_t *>(given);
  Transaction &transaction = arena->transaction;
  const std::size_t own = own_slot();
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (!in_transaction(own)) {
    // A thread that ends: its write waits. Twice at the same place is the program's fault.
    while (transaction.active.load(std::memory_order_acquire))
      nap();
    if (slot(own).fault == address)
      return restore_default(number);
    slot(own).fault = address;
    return;
  }
  constexpr greg_t kWrite = 2; // of the page fault's error code
  const std::uintptr_t page = address & ~(kPage - 1);
  const Range *found = nullptr;
  for (std::size_t i = 0; i < transaction.ranges && found == nullptr; ++i)
    if (page >= arena->ranges[i].low && page < arena->ranges[i].high)
      found = &arena->ranges[i];
  if (found == nullptr || (context.uc_mcontext.gregs[REG_ERR] & kWrite) == 0)
    return undo(context, 0);
  if (transaction.pages == most_pages)
    return undo(context, kCapacity);
  if (transaction.faults_left == 1)
    return undo(context, transaction.chosen);
  transaction.faults_left -= transaction.faults_left != 0 ? 1 : 0;
  arena->places[transaction.pages] = page;
  std::memcpy(arena->copies[transaction.pages++], reinterpret_cast<const void *>(page), kPage);
  protect({page, page + kPage, 0}, found->protection);
}

void on_system_call(int, siginfo_t *, void *given) {
  if (!in_transaction(own_slot()))
    die("a system call outside of a transaction was stopped");
  undo(*static_cast<ucontext_t *>(given), 0);
}

void on_tick(int, siginfo_t *, void *given) {
  const std::size_t own = own_slot();
  if (!in_transaction(own))
    return pass_on(own);
  tick_pending = true;
  if (++arena->transaction.ticks == kMostTicks)
    undo(*static_cast<ucontext_t *>(given), 0);
}

// --- the process

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

void restore_default(int number) noexcept {
  const Action action = {nullptr, kRestorer, restore, 0};
  call(SYS_rt_sigaction, number, at(&action), 0, sizeof action.mask);
}

void set_mask(int how, std::uint64_t mask, std::uint64_t *before) noexcept {
  call(SYS_rt_sigprocmask, how, at(&mask), at(before), sizeof mask);
}
constexpr std::uint64_t kTickMask = std::uint64_t{1} << (kTick - 1);

// Not in a handler: the calling thread's slot.
std::size_t slot_of_thread() noexcept {
  return reinterpret_cast<std::uintptr_t>(pthread_getspecific(exit_key)) - 1;
}

class TickBlocked {
public:
  TickBlocked() noexcept { set_mask(SIG_BLOCK, kTickMask, &before_); }
  TickBlocked(const TickBlocked &) = delete;
  TickBlocked &operator=(const TickBlocked &) = delete;
  ~TickBlocked() { set_mask(SIG_SETMASK, before_, nullptr); }

private:
  std::uint64_t before_ = 0;
};

bool transacts() noexcept {
  return arena == nullptr || arena->transaction.active.load(std::memory_order_acquire);
}

// The calling thread lets another one run.
void let_others_run() noexcept {
  const TickBlocked blocked;
  const std::size_t own = slot_of_thread();
  tick_pending = false;
  if (give(own))
    take(own);
  else
    nap();
}

void adopt_thread(std::size_t own) noexcept {
  stack_t stack = {};
  stack.ss_sp = arena->stacks[own];
  stack.ss_size = kStack;
  slot(own).selector = SYSCALL_DISPATCH_FILTER_ALLOW;
  slot(own).tid = static_cast<int>(call(SYS_gettid));
  slot(own).destructions = 0;
  slot(own).fault = 0;
  if (call(SYS_sigaltstack, at(&stack)) != 0)
    die("a thread cannot have a stack for handlers");
  if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, text_low, text_high - text_low,
            &slot(own).selector) != 0)
    die("the kernel has no syscall user dispatch");
  pthread_setspecific(exit_key, reinterpret_cast<void *>(own + 1));
}

std::size_t free_slot() noexcept {
  for (std::size_t i = 0; i < kSlots; ++i) {
    Slot &candidate = slot(i);
    if (candidate.life.load(std::memory_order_acquire) == Life::dying &&
        call(SYS_tgkill, pid, candidate.tid, 0) == -ESRCH)
      candidate.life.store(Life::none, std::memory_order_release);
    if (candidate.life.load(std::memory_order_acquire) != Life::none)
      continue;
    if (i >= slots_end.load(std::memory_order_relaxed))
      slots_end.store(i + 1, std::memory_order_release);
    return i;
  }
  die("too many threads");
}

void *trampoline(void *given) {
  const auto own = reinterpret_cast<std::uintptr_t>(given);
  adopt_thread(own);
  slot(own).life.store(Life::alive, std::memory_order_release);
  slot(own).ready.store(1, std::memory_order_release);
  wake(slot(own).ready);
  take(own);
  set_mask(SIG_UNBLOCK, kTickMask, nullptr);
  return slot(own).start(slot(own).argument);
}

// Of a thread that ends: in the last round, when all else has been destroyed.
void on_exit(void *given) {
  const std::size_t own = reinterpret_cast<std::uintptr_t>(given) - 1;
  pthread_setspecific(exit_key, given);
  if (++slot(own).destructions < PTHREAD_DESTRUCTOR_ITERATIONS)
    return;
  set_mask(SIG_BLOCK, kTickMask, nullptr);
  slot(own).life.store(Life::dying, std::memory_order_release);
  give(own);
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

template <class Function> Function *next(const char *name) noexcept {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

} // namespace
} // namespace tandem::rtm_emulator

using namespace tandem::rtm_emulator;

#define EMULATOR extern "C" __attribute__((visibility("default")))

// What src/runtime/algorithms/hardware.cc asks for.
EMULATOR bool tandem_rtm_is_emulated() noexcept {
  prepare();
  return true;
}

// --- what a thread waits by keeps the baton going around. All may return early, as they may when a
// signal comes; inside a transaction they are system calls, which end it.

EMULATOR int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*start)(void *), void *argument) noexcept {
  static auto *real = next<decltype(pthread_create)>("pthread_create");
  if (transacts())
    return real(thread, attributes, start, argument);
  const TickBlocked blocked; // also in the new thread
  const std::size_t child = free_slot();
  slot(child).start = start;
  slot(child).argument = argument;
  slot(child).ready.store(0, std::memory_order_relaxed);
  slot(child).runs.store(0, std::memory_order_relaxed);
  const int error = real(thread, attributes, trampoline, reinterpret_cast<void *>(child));
  if (error == 0)
    while (slot(child).ready.load(std::memory_order_acquire) == 0)
      wait_on(slot(child).ready, 0);
  return error;
}

EMULATOR int pthread_join(pthread_t thread, void **result) {
  static auto *real = next<decltype(pthread_join)>("pthread_join");
  if (transacts())
    return real(thread, result);
  int error = 0;
  while ((error = pthread_tryjoin_np(thread, result)) == EBUSY)
    let_others_run();
  return error;
}

EMULATOR int sched_yield() noexcept {
  if (transacts())
    return static_cast<int>(::syscall(SYS_sched_yield));
  let_others_run();
  return 0;
}

EMULATOR int usleep(useconds_t time) {
  static auto *real = next<decltype(usleep)>("usleep");
  if (transacts())
    return real(time);
  timespec now;
  timespec begin;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    let_others_run();
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1'000'000 + (now.tv_nsec - begin.tv_nsec) / 1000 <
           static_cast<long>(time));
  return 0;
}

EMULATOR long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  const long a = va_arg(list, long);
  const long b = va_arg(list, long);
  const long c = va_arg(list, long);
  const long d = va_arg(list, long);
  const long e = va_arg(list, long);
  const long f = va_arg(list, long);
  va_end(list);
  if (number == SYS_futex && !transacts() && (b & FUTEX_CMD_MASK) == FUTEX_WAIT) {
    if (reinterpret_cast<std::atomic<std::uint32_t> *>(a)->load() !=
        static_cast<std::uint32_t>(c)) {
      errno = EAGAIN;
      return -1;
    }
    let_others_run();
    return 0;
  }
  static auto *real = next<long(long, ...)>("syscall");
  return real(number, a, b, c, d, e, f);
}
// NOLINTEND(performance-no-int-to-ptr)
