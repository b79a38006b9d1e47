// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hardware transactions (Intel RTM) beside NOrec's: the instructions, the words that the two kinds
// meet by, and what follows an abort. transaction/hardware.h begins and ends them.
//
// A hardware transaction reads and writes memory plainly. The processor isolates it: any access of
// another thread that conflicts with one of its own undoes it, also one by software. What it has to
// do for software:
//
//     it reads       at its begin    the word of serial transactions, and the colours' words that
//                                    its section shares: whoever takes one undoes it
//                                    `writing`: so a software transaction that writes back undoes
//                                    it before the first of its stores
//                    at its end      `software`: 0, and it is done; whoever begins now undoes it or
//                                    sees all that it wrote
//     it writes      at its end      the clock + 2, where `software` is not 0: readers look at
//                                    what they have read again. An odd clock: it is undone
//
//     software       begin           software + 1 (locked), then as NOrec
//                    write back      clock: even -> odd (locked); writing := 1; data;
//                                    writing := 0; clock := even
//                    end             software - 1
//
// `writing` is another word than the clock so that hardware transactions which commit while there
// is software do not undo one another: they meet at the clock only between their last load and
// their end.
//
// Uninstrumented code gives memory back by plain `free`, which does not wait until nobody in
// software can still be reading it. So it commits only where `software` is 0; where it is not, the
// same transaction runs instrumented, still in hardware.
//
// On RV64 the instructions are those of the simulated machine (docs/machine/metatm.md).
//
// Orders: XBEGIN and XEND order as locked instructions do; so do xbegin and xend. Source: Intel 64
// and IA-32 Architectures Software Developer's Manual, volume 1, chapter 16 (Programming with TSX),
// and volume 2, XBEGIN. Dalessandro et al., Hybrid NOrec: a case study in the effectiveness of best
// effort hardware transactional memory, ASPLOS 2011.
#pragma once

#include "runtime/irrevocable/serial.h"
#include "runtime/settings/settings.h"

#include <atomic>
#include <cstdint>
#include <tandem/machine.h>

namespace tandem::hardware {

struct State {
  alignas(128) std::atomic<std::uint32_t> software{0}; // transactions
};
inline constinit State state;

// Whether a first attempt may begin without looking at anything else: where what is read there is
// 0. Either of libc's, since a process with one thread needs no hardware under `auto`, or of a
// constant.
inline constexpr char kNever = 1;
inline constexpr char kAlways = 0;
inline constinit std::atomic<const char *> not_now{&kNever};
// Whether a transaction that ends may have begun so. What not_now says, but in one load: it is made
// inside, where its time counts.
inline constinit std::atomic<bool> quick{false};

// Whether this process runs hardware transactions, so that software ones have to know.
inline bool in_use() noexcept {
  return settings.algorithm.load(std::memory_order_relaxed) == Algorithm::htm;
}

// A software transaction begins, before its first look at the clock; and has ended.
inline void enter_software() noexcept { state.software.fetch_add(1); }
inline void leave_software() noexcept { state.software.fetch_sub(1, std::memory_order_release); }

// Lets transactions begin in hardware, or not, as the settings want it now. Nobody is in one, and
// the caller has the serial word or is serial.
void adopt_settings() noexcept;

// serial::word.writing while transactions run by an algorithm that does not know of hardware: who
// has seen another one and begins in hardware is stopped by that.
inline constexpr std::uint32_t kOthersRun = 2;

// Around its stores. The clock is odd.
inline void stop_all() noexcept {
  if (in_use())
    serial::word.writing.store(1, std::memory_order_relaxed); // before the stores that follow:
#if defined(__x86_64__)
  std::atomic_thread_fence(std::memory_order_release); // the processor keeps their order
#else
  std::atomic_thread_fence(std::memory_order_seq_cst); // stores before stores
#endif
}
inline void let_run() noexcept {
  if (in_use())
    serial::word.writing.store(0, std::memory_order_release);
}

// In a child process: its only thread is in no software transaction.
inline void forget_other_threads() noexcept {
  state.software.store(0, std::memory_order_relaxed);
  serial::word.writing.store(in_use() ? 0 : kOthersRun, std::memory_order_relaxed);
}

// Why the runtime itself undoes one.
enum class Code : std::uint8_t {
  serial = 1,  // somebody runs serially
  writing = 2, // a software transaction writes back
  colour = 3,  // a colour is held exclusively
  beside = 4,  // there are software transactions, and it runs uninstrumented
  leave = 5,   // it has come to something that only software does
  cancel = 6   // the program cancels it
};

// What start returns: kStarted, or why the transaction was undone. Source: the manual, table 16-1.
inline constexpr std::uint32_t kStarted = ~std::uint32_t{0};
inline constexpr std::uint32_t kExplicit = 1; // by XABORT, whose argument is in bits 24 to 31
inline constexpr std::uint32_t kMayRetry = 2;
inline constexpr std::uint32_t kConflict = 4;
inline constexpr std::uint32_t kCapacity = 8;

constexpr Code code_of(std::uint32_t status) noexcept { return static_cast<Code>(status >> 24); }
constexpr bool is(std::uint32_t status, Code code) noexcept {
  return (status & kExplicit) != 0 && code_of(status) == code;
}

// The processor says nothing: an interrupt, a fault, or an instruction that it does not run.
constexpr bool unexplained(std::uint32_t status) noexcept {
  return (status & (kExplicit | kMayRetry | kConflict | kCapacity)) == 0;
}

// What follows.
enum class Next : std::uint8_t {
  again,    // in hardware, after a while
  wait,     // in hardware, once what undid it is over
  software, // by software, for this time
  cancelled // the program's wish: it has ended
};

// Attempts in hardware of one transaction. glibc's elision of locks makes three, and then takes the
// lock, which stops everybody; software stops nobody but costs some times as much as hardware.
inline constexpr std::uint32_t kMostAttempts = 6;
// Of them, after an abort without a reason: an interrupt, or something that will never do.
inline constexpr std::uint32_t kMostUnexplained = 2;

// `attempts`: those that have been undone so far, this one among them.
constexpr Next decide(std::uint32_t status, std::uint32_t attempts) noexcept {
  if (is(status, Code::cancel))
    return Next::cancelled;
  if (is(status, Code::leave) || (status & kCapacity) != 0 || attempts >= kMostAttempts)
    return Next::software;
  if (is(status, Code::serial) || is(status, Code::writing) || is(status, Code::colour))
    return Next::wait;
  if (is(status, Code::beside) || (status & (kMayRetry | kConflict)) != 0)
    return Next::again;
  // Another XABORT is the program's own, or the elision of one of its locks.
  return (status & kExplicit) == 0 && attempts < kMostUnexplained ? Next::again : Next::software;
}

// --- the instructions

#if defined(__riscv)
// Of the simulated machine (include/tandem/machine.h). Its processor begins again by itself, with
// its own policy and backoff, until the limit of restarts (stxlimit): where the state says that an
// attempt was restarted, it runs in a transaction already. Only an attempt that undid itself, by a
// Code, has to look at what follows.
inline constexpr std::uint32_t kFirstCode = TANDEM_TX_OWN;

template <Code kCode> [[gnu::always_inline]] inline void abort() noexcept {
  tandem_xabort(kFirstCode + static_cast<std::uint32_t>(kCode));
}

// The status of an attempt that does not run for this reason. The limit: conflicts, as many as the
// user wants, and software is next.
constexpr std::uint32_t status_of(long cause) noexcept {
  switch (cause) {
  case TANDEM_TX_LIMIT:
  case TANDEM_TX_RECALL:
  case TANDEM_TX_IO:
  case TANDEM_TX_CALL:
  case TANDEM_TX_CSR:
    return kCapacity; // it does not fit
  default:
    return kMayRetry; // a trap: a page that is there the next time
  }
}

// `place`: the section's descriptor, or where its begin returns to; for the machine's counts.
[[gnu::always_inline]] inline std::uint32_t start(std::uintptr_t place) noexcept {
  const long answer = tandem_xbegin_at(reinterpret_cast<const void *>(place));
  if (answer == 0) [[likely]]
    return kStarted;
  if (answer < 0)
    return status_of(-answer);
  const auto code = static_cast<std::uint32_t>(answer & 0xff);
  if (code < kFirstCode)
    return kStarted;
  tandem_xend(); // nothing was done in it
  return kExplicit | (code - kFirstCode) << 24;
}

[[gnu::always_inline]] inline void end() noexcept { tandem_xend(); }

[[gnu::always_inline]] inline bool inside() noexcept { return tandem_xtest() != 0; }
#else
// Undoes everything since start, which returns for the second time. Outside: nothing.
template <Code kCode> [[gnu::always_inline]] inline void abort() noexcept {
  __asm__ volatile("xabort %0" : : "i"(static_cast<int>(kCode)) : "memory");
}

[[gnu::always_inline]] inline std::uint32_t start(std::uintptr_t /*place*/) noexcept {
  std::uint32_t status = kStarted;
  __asm__ volatile("xbegin 1f\n1:" : "+a"(status) : : "memory");
  return status;
}

[[gnu::always_inline]] inline void end() noexcept { __asm__ volatile("xend" : : : "memory"); }

// Whether the thread is in one. Only where the processor has them.
[[gnu::always_inline]] inline bool inside() noexcept {
  bool is = false;
  __asm__ volatile("xtest" : "=@ccnz"(is) : : "memory");
  return is;
}
#endif

// Levels of nesting that the processor counts.
inline constexpr std::uint32_t kMostLevels = 7;

// Before software, or one that is serial, begins: what ends a level of hardware would end a region
// of the program's own. Undoes that; whoever begins one copes with it.
inline void leave_foreign() noexcept {
  if (in_use() && inside())
    abort<Code::leave>();
}

// Whether the processor has them and they are not switched off; or an emulator is loaded
// (tests/runtime/rtm_emulator). Before main.
bool present() noexcept;

} // namespace tandem::hardware
