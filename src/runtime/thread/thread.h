// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime knows about a thread. Its own thread writes all of it; another thread reads or
// writes the members that are atomic, and nothing else.
//
// A Thread is never unmapped: when its thread exits it goes to a pool for the next new one, so that
// any thread may look at the atomic members of any other at any time.
#pragma once

#include "contention/backoff.h"
#include "contention/policy.h"
#include "runtime/memory/cell.h"
#include "runtime/memory/log.h"
#include "runtime/memory/write_map.h"
#include "runtime/thread/orec_word.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <tandem/transaction.h>

struct tandem_section;

namespace tandem {

namespace guarded_by {
struct Word;
}

namespace colours {
struct Plan; // irrevocable/colours.h
}

struct Thread;

// The registers that a function may expect unchanged after a call, and where the call returns to.
// `stack` is the stack pointer after that return: memory below it belongs to functions that the
// transaction called.
struct JumpBuffer {
  std::uint64_t stack;
#if defined(__riscv)
  std::uint64_t saved[12];    // s0 to s11
  std::uint64_t floating[12]; // fs0 to fs11
#else
  std::uint64_t rbx;
  std::uint64_t rbp;
  std::uint64_t r12;
  std::uint64_t r13;
  std::uint64_t r14;
  std::uint64_t r15;
#endif
  std::uint64_t target;
};

// How the current transaction runs.
enum class Mode : std::uint8_t {
  idle,   // there is none
  direct, // serial, irrevocable: plain accesses
  undo,   // serial, with an undo log, because it may be cancelled
  eager,
  lazy,
  norec,
  two_phase,
  guarded_by, // serial with what its locks guard (transaction/guarded_by.h): with an undo log
  hardware    // in the processor (transaction/hardware.h): plain accesses
};

struct OwnedOrec {
  Orec *orec;
  std::uint64_t before; // its word when it was acquired
};

// Something to do when a transaction ends.
struct UserAction {
  void (*function)(void *);
  void *argument;
  bool on_commit; // else on abort
};

// Memory that the transaction allocated (to be freed if it aborts) or freed (if it commits).
struct AllocationAction {
  void *memory;
  void (*release)(void *);
  std::size_t bytes; // that it has; 0 where freed, or not known
  bool allocated;    // else freed
};

// Where a closed nested transaction began: what rolling it back restores. Positions are sizes of
// the logs.
struct Checkpoint {
  JumpBuffer jump; // of the nested begin
  std::size_t undo;
  std::size_t journal;
  std::size_t user_actions;
  std::size_t allocations;
  std::uint32_t depth; // nesting before the nested begin
  std::uint32_t caught;
  std::uint32_t uncaught;
  Mode mode;      // outside the nested transaction
  bool revocable; // false once the whole transaction became irrevocable
};

// Bits of Thread::signals.
inline constexpr std::uint32_t kSignalPublish = 1; // look at the clock and publish a new snapshot
inline constexpr std::uint32_t kSignalAbort = 2;   // a contention policy wants this one to restart
inline constexpr std::uint32_t kSignalProfile = 4; // always on in an execution that is measured
inline constexpr std::uint32_t kSignalAdditions = 8; // of the thread itself: additions wait
inline constexpr std::uint32_t kSignalWake = 16; // who asked for the new snapshot sleeps on these
// Those that stay on.
inline constexpr std::uint32_t kLastingSignals = kSignalProfile | kSignalAdditions;

// Events of one thread, counted by itself and read by others.
class Counter {
public:
  void operator++() noexcept { value_.store(load() + 1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t load() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

private:
  std::atomic<std::uint64_t> value_{0};
};

// Contender::started of one that has met no conflict, where that is asked late: the youngest.
inline constexpr std::uint64_t kNotStarted = ~std::uint64_t{0};

// What other transactions' contention policies may ask about this one. Written by its own thread,
// priority also by others (Eruption); old values do no harm, so everything is relaxed.
struct Contender {
  std::atomic<std::uint64_t> started{0};  // clock at the first attempt, or kNotStarted
  std::atomic<std::uint64_t> priority{0}; // of earlier attempts, plus gifts
  std::atomic<std::uint64_t> size{0};     // accesses of this attempt, at the last acquisition
  std::atomic<std::uint32_t> restarts{0};
  std::atomic<std::uint64_t> deferred{0};   // Kindergarten: bit (identity % 64)
  std::atomic<Thread *> waits_for{nullptr}; // the holder of the orec that it waits for
};

// Sections whose history with the hardware a thread keeps separately.
inline constexpr std::size_t kHardwareSlots = 64;
// Thread::hardware_slot of a first attempt, whose section's place is not looked up; their penalties
// are always 0. The end of one that has none of these has more to do.
inline constexpr std::uint8_t kNoSlot = kHardwareSlots;
inline constexpr std::uint8_t kDescribedSlot = kNoSlot + 1; // that has a descriptor
inline constexpr std::uint8_t kBusySlot = kNoSlot + 2;      // that leaves something to be done
// And with locks that guard their data.
inline constexpr std::size_t kGuardedByPlaces = 64;

struct Barriers;      // algorithms/barriers.h
struct ThreadProfile; // profile/counters.h

// Thread::depth of an outermost transaction whose end is counted or releases colours. Fast paths
// take it for a nested one, and leave the end to the slow path.
inline constexpr std::uint32_t kSpecialDepth = 0x8000'0001;

// Thread::written: words that differ in the bit are not the same.
constexpr std::uint64_t written_bit(std::uintptr_t address) {
  return std::uint64_t{1} << (address >> 3 & 63);
}

// Thread::hardware_ready: no begin's, since the code is neither plain nor instrumented.
inline constexpr std::uint32_t kNotReady = 0x8000'0000;

struct alignas(128) Thread {
  // --- what every barrier looks at
  const Barriers *barriers;           // of the current mode
  std::atomic<std::uint32_t> signals; // kSignal*; cleared at begin, set by others
  Mode mode; // from here to `depth` hardware transactions read and write all at once
  std::uint8_t hardware_slot; // of a hardware transaction's section in hardware_penalty, or k*Slot
  std::uint32_t depth;        // nesting; 0: no transaction; the outermost is 1, or kSpecialDepth
  std::uint32_t hardware_ready; // properties of a begin that finds all prepared, or kNotReady
  std::uint64_t limit;          // orec: highest word that is in the snapshot; two_phase: its bit
  std::uint64_t snapshot;       // clock value that all reads so far are consistent with
  std::uint64_t lock_word;      // orec: what orecs of this thread hold
  std::atomic<std::uint64_t> *clock; // sync::global_clock.now, for code in programs
  // Memory that the transaction has just allocated, and that nobody else knows: the last block, or,
  // once it has allocated an exception, an interval that has all of its exceptions in it.
  std::uintptr_t fresh;
  std::size_t fresh_bytes;
  bool throwing;          // it has allocated an exception
  bool only_guarded_by;   // it is in sections of locks that guard their data, and in no others
  bool joins_late;        // norec: the last transaction has read nothing, and so may the next one
  std::uint32_t puts_off; // transactions with additions that are to put them off
  // norec, of a transaction that has joined: where `values` is full; else null. The first also
  // becomes null when the transaction writes. So one comparison tells the mode, that it has joined,
  // that there is room, and that memory has the value.
  memory::CellValue *quick_end;
  memory::CellValue *values_end;
  std::uint64_t written;     // norec, lazy: bits of the words that were written (written_bit)
  memory::Log<Orec *> reads; // orec: what was read
  memory::Log<memory::CellValue> values; // norec: what was read, and what it was
  memory::WriteMap writes;               // lazy, norec: what was written
  memory::Log<OwnedOrec> owned;          // orec
  memory::Log<memory::CellValue> undo;   // what memory was before, oldest first

  // The thread's stack. Unknown: UINTPTR_MAX and 0.
  std::uintptr_t stack_high;
  std::uintptr_t stack_low;
  // The distance from the stack's end to an address on it, in words and modulo 2^64, is not below
  // this. 0: unknown. The main thread's stack, which may grow, is taken for larger than it is.
  std::uintptr_t beyond_stack;

  // For short sections of locks that guard their data (transaction/guarded_by.h), in programs.
  guarded_by::Word *guarded_by_words;
  std::atomic<std::uint32_t> *serial_word;
  std::uint64_t
      guarded_by_holder; // what words that it holds have; 0: the library is to be asked first
  Counter transactions;  // begins, for identities
  std::uint64_t look_at; // `auto`: so many of them, and it looks at the time

  // --- begin, end, restart
  JumpBuffer jump;          // of the outermost begin
  std::uint32_t properties; // of the outermost begin (abi/itm.h)
  bool irrevocable;
  bool coloured;             // it has its section's colours exclusively (transaction/guarded.h) and
  bool owns_colours;         //   releases them at its end; and
  bool serial_too;           //   it has the serial word
  std::uint32_t restarts;    // in a row
  std::uint64_t row_start;   // of the row's first restart, in ticks (back_off)
  std::uint64_t revalidated; // reads that it has looked at again, in the attempt
  std::uint64_t revalidated_in; // `transactions` of that attempt
  std::uint64_t known_quiesced; // Clock::quiesced at begin
  Counter nested;               // of them, nested ones that can be cancelled
  Counter undone;               // attempts that began again
  Counter cancelled;            // outermost transactions
  Counter serialised;           // attempts that ran serially or became irrevocable
  Counter retried;              // sleeps until a change
  contention::Policy policy;    // the process's, the thread's (tandem_choose), or the section's
  contention::Backoff backoff;
  std::uint32_t serialise_after;
  tandem_options chosen;            // the thread's
  std::uint64_t section;            // what the profile knows the next transaction by; 0: its begin
  const tandem_section *descriptor; // that _TANDEM_begin was given last
  const colours::Plan *plan;      // of a guarded outermost transaction; null: begun without colours
  const colours::Plan *guards[8]; // whose colours it shares; the marks are in this order
  std::uint32_t guard_count;
  memory::Log<Checkpoint> checkpoints; // closed nested transactions, outermost first
  memory::Log<UserAction> user_actions;
  memory::Log<AllocationAction> allocations;
  memory::Log<memory::CellValue> additions; // that wait for the commit (algorithms/additions.h)
  memory::Log<guarded_by::Word *>
      guarded_by; // words of locks that it holds (transaction/guarded_by.h)

  memory::Log<memory::Cell> logged; // those of the undo log, for guarded_by::shrink_log
  // Executions that do not begin in Mode::guarded_by, of the sections of each place.
  std::uint8_t guarded_by_skip[kGuardedByPlaces];

  // --- hardware transactions (transaction/hardware.cc)
  std::uint8_t hardware_skip[kHardwareSlots];   // executions of sections that are not tried there
  std::uint8_t hardware_penalty[kBusySlot + 1]; // that many, the last time
  std::uint8_t hardware_trouble;                // sections that have a penalty
  bool hardware_plain;                          // the last attempt in hardware runs uninstrumented
  bool hardware_extra;                          // it has one level more (transaction/hardware.h)

  // --- `auto` (algorithms/automatic.cc)
  std::uint64_t looked;       // when it did so last, in nanoseconds
  std::uint64_t looked_after; // so many transactions
  std::uint64_t look_period;  // from then to look_at
  bool hardware_fails;        // for some section of the thread, time and again

  // --- calls that wait (library/waits.cc): of what the program was started with, where the last
  // transaction began that ran serially
  std::uintptr_t known_code;
  std::uintptr_t known_code_bytes;

  // --- the profiler (profile/profile.h)
  ThreadProfile *profile;  // of the present execution; null: it is not measured
  ThreadProfile *counters; // of the thread; null: the process is not profiled

  // --- exceptions
  std::uint32_t *uncaught; // libstdc++'s count for this thread; null without libstdc++
  std::uint32_t uncaught_before;
  std::uint32_t caught; // catch handlers that the transaction is in

  // --- other threads look at these
  alignas(128) std::atomic<std::uint64_t> *mark; // in marks[]
  std::uint64_t identity;                        // position in marks[]; unique among live threads
  Contender contender;
  std::atomic<std::uint64_t> interest; // stripes whose change it sleeps for; 0: it does not
  std::atomic<std::uint32_t> woken;
  contention::Xorshift random{1};
  Thread *next_free;
};

// Whether the present execution is measured (profile/profile.h).
inline bool is_profiled([[maybe_unused]] const Thread &thread) noexcept {
#ifdef TANDEM_WITHOUT_PROFILER // settings.h
  return false;
#else
  return thread.profile != nullptr;
#endif
}

// Whether the process is profiled.
inline bool has_counters([[maybe_unused]] const Thread &thread) noexcept {
#ifdef TANDEM_WITHOUT_PROFILER
  return false;
#else
  return thread.counters != nullptr;
#endif
}

// The calling thread's; null before its first transaction. Defined in thread.cc. Code in programs
// finds it by this name (abi/inline_barriers.h).
extern __thread Thread *current_thread __asm__("_TANDEM_thread_4")
    __attribute__((tls_model("initial-exec"), visibility("default")));

// Threads that have transactions at the same time, at most.
inline constexpr std::size_t kMostThreads = 32768;

// One per thread, each in a line of its own: 0 while the thread has no transaction that others must
// wait for, else encode_mark(snapshot). Partner of the stores, all by the own thread: the loads in
// sync::quiesce and serial::wait_for_all.
struct alignas(64) Mark {
  std::atomic<std::uint64_t> value;
};
extern Mark marks[kMostThreads];
// Marks from here on have never been used.
extern std::atomic<std::size_t> marks_end;

inline constexpr std::uint64_t kMarkNewest = ~std::uint64_t{0};
// Thread::snapshot of a NOrec transaction that has not joined (algorithms/norec.h): even, and never
// a value of the clock.
inline constexpr std::uint64_t kNotJoined = ~std::uint64_t{1};
constexpr std::uint64_t encode_mark(std::uint64_t snapshot) { return (snapshot << 1) | 1; }

// The calling thread's, made on first use. The process's first call also prepares the process for
// transactions, with the lock of the list of threads held: others that call for the first time wait
// until that is done. Ends the process where there is no memory, or too many threads.
Thread &this_thread() noexcept;

// The thread that has marks[identity]; identity is below marks_end.
Thread &thread_of(std::size_t identity) noexcept;

// Fills in thread.stack_low and stack_high; the thread is the calling one.
void find_stack(Thread &thread) noexcept;

// After fork, in the child: only the calling thread is left.
void forget_other_threads() noexcept;

// Before main, once.
void prepare_threads() noexcept;

} // namespace tandem
