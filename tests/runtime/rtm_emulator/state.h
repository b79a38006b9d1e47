// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the emulator's parts share: its data, and the system without errno. Handlers call nothing of
// the C library but memory copies, and write only to `arena`, the emulator's own data and the
// memory of the undone transaction: all else may be read-only.
#pragma once

#include "emulator.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

// NOLINTBEGIN(performance-no-int-to-ptr): addresses come from the kernel, as numbers

namespace tandem::rtm_emulator {

inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kSlots = 1024;      // threads that live at the same time
inline constexpr std::size_t kStack = 64 * 1024; // of a handler
inline constexpr std::size_t kMostRanges = 4096;
inline constexpr std::size_t kMostPages = 4096;
inline constexpr std::size_t kMapsBytes = 1 << 20;
inline constexpr std::size_t kVectorBytes = 16 * 1024;
inline constexpr int kTick = 50;                // a real-time signal that no test uses
inline constexpr std::uint32_t kMostTicks = 50; // of one transaction
inline constexpr std::uint32_t kMostFaults = 1000;

enum class Life : std::uint32_t { none, starting, alive, dying };

struct alignas(128) Slot {
  std::atomic<Life> life;
  std::atomic<std::uint32_t> runs;  // it is given the baton
  std::atomic<std::uint32_t> ready; // a new thread has come to its trampoline
  int tid;
  char selector; // of syscall user dispatch
  std::uint32_t destructions;
  bool has_baton;
  std::uint32_t faults; // in a row, without the baton
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

extern Arena *arena;
extern std::atomic<std::size_t> slots_end;
extern std::uint64_t chance_state;
extern unsigned aborts_per_cent;
extern std::size_t most_pages;
extern int pid;
extern bool tick_pending;
extern pthread_key_t exit_key;
extern Range excluded[2];       // the arena, and this library's data
extern std::uintptr_t text_low; // this library's code, which may call the system
extern std::uintptr_t text_high;
extern Counts counts;

// --- the system, without errno

inline long call(long number, long a = 0, long b = 0, long c = 0, long d = 0) noexcept {
  long result;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return result;
}
template <class T> long at(T *pointer) noexcept { return reinterpret_cast<long>(pointer); }

[[noreturn]] inline void die(const char *why) noexcept {
  call(SYS_write, 2, at("rtm emulator: "), 14);
  call(SYS_write, 2, at(why), static_cast<long>(__builtin_strlen(why)));
  call(SYS_write, 2, at("\n"), 1);
  call(SYS_exit_group, 3);
  __builtin_unreachable();
}

inline void wait_on(std::atomic<std::uint32_t> &word, std::uint32_t value) noexcept {
  call(SYS_futex, at(&word), FUTEX_WAIT_PRIVATE, value, 0);
}
inline void wake(std::atomic<std::uint32_t> &word) noexcept {
  call(SYS_futex, at(&word), FUTEX_WAKE_PRIVATE, 1);
}
inline void nap() noexcept {
  const timespec time = {0, 20'000};
  call(SYS_nanosleep, at(&time));
}

inline std::uint64_t random() noexcept {
  chance_state ^= chance_state >> 12;
  chance_state ^= chance_state << 25;
  chance_state ^= chance_state >> 27;
  return (chance_state * 0x2545f4914f6cdd1dU) >> 11;
}
inline bool chance(unsigned per_cent) noexcept { return random() % 100 < per_cent; }

inline Slot &slot(std::size_t index) noexcept { return arena->slots[index]; }

// In a handler: whose stack this is.
inline std::size_t own_slot() noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return (here - reinterpret_cast<std::uintptr_t>(arena->stacks)) / kStack;
}

inline bool in_transaction(std::size_t own) noexcept {
  return arena->transaction.active.load(std::memory_order_acquire) &&
         arena->transaction.slot == own;
}

// --- memory.cc

// What memory of the process is writable; that made read-only, and as it was.
void find_writable_memory() noexcept;
void close_memory() noexcept;
void open_memory() noexcept;
const Range *range_of(std::uintptr_t address) noexcept; // nullptr: it may not be written
// The first write to a page of the transaction.
void copy_page(std::uintptr_t address, const Range &range) noexcept;
void restore_pages() noexcept;

// --- decode.cc: handlers

void on_illegal(int number, siginfo_t *info, void *context);
void on_fault(int number, siginfo_t *info, void *context);
void on_system_call(int number, siginfo_t *info, void *context);
void on_tick(int number, siginfo_t *info, void *context);

// --- threads.cc

// The calling thread, which has the baton and the tick blocked, passes it on and waits for it.
void pass_on(std::size_t own) noexcept;
void wait_for_starting_and_dying(std::size_t own) noexcept;
std::size_t slot_of_thread() noexcept; // not in a handler
std::size_t free_slot() noexcept;      // `starting` from now on; the tick is blocked
void adopt_thread(std::size_t own) noexcept;
void on_exit(void *slot); // of a thread

// --- emulator.cc

void restore_default(int number) noexcept; // the action of a signal
void set_mask(int how, std::uint64_t mask, std::uint64_t *before) noexcept;
inline constexpr std::uint64_t kTickMask = std::uint64_t{1} << (kTick - 1);

} // namespace tandem::rtm_emulator

// NOLINTEND(performance-no-int-to-ptr)
