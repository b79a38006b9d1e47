// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the user chose in the environment. Read once, before main; all but the algorithm of `auto`
// is constant afterwards.
//
//     TANDEM_ALGORITHM        auto, serial, eager, lazy, norec, two-phase, htm
//     TANDEM_HARDWARE         on, off: whether auto and htm use the processor's transactions
//     TANDEM_POLICY           polite, karma, eruption, kindergarten, timestamp, polka,
//                             size-matters, stall
//     TANDEM_BACKOFF          none, linear, exponential, random, square
//     TANDEM_HOURGLASS        off, or restarts after which no other transaction begins
//     TANDEM_SERIALISE_AFTER  restarts after which a transaction runs serially, or never
//     TANDEM_SERIAL_LOCK      marks, readers-writer
//     ITM_DEFAULT_METHOD      libitm's; counts where TANDEM_ALGORITHM is not set
//     TANDEM_PROFILE          a file; runtime/profile reads it
#pragma once

#include "contention/backoff.h"
#include "contention/policy.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem {

// htm: in the processor, and beside that NOrec's (algorithms/hardware.h).
enum class Algorithm : std::uint8_t { serial, eager, lazy, norec, two_phase, htm };
inline constexpr std::size_t kAlgorithmCount = 6;

inline constexpr std::uint32_t kSpecialSerial = 1; // a process with one thread runs without logs
// Sections are counted (runtime/profile). The library without its profiler is what bench/profiler
// measures the other one against.
#ifdef TANDEM_WITHOUT_PROFILER
inline constexpr std::uint32_t kSpecialProfile = 0;
#else
inline constexpr std::uint32_t kSpecialProfile = 2;
#endif
inline constexpr std::uint32_t kSpecialHourglass = 4; // a begin may have to wait (sync/hourglass.h)

inline constexpr std::uint32_t kSpecialAdapt = 8;          // the algorithm is measured and changed
inline constexpr std::uint32_t kSpecialReadersWriter = 16; // sync/readers_writer.h

inline constexpr std::uint32_t kNever = ~std::uint32_t{0}; // of restarts

struct Settings {
  // What transactions run under while the process has several threads. Changes while it runs only
  // under kSpecialAdapt, when nobody is in a transaction (algorithms/automatic.h).
  std::atomic<Algorithm> algorithm = Algorithm::norec;
  bool chosen = false;   // by the user
  bool hardware = false; // there are hardware transactions, and they may be used
  // Bits that begin looks at together, because most processes have none.
  std::uint32_t special = kSpecialSerial | kSpecialAdapt;
  contention::Policy policy = contention::Policy::karma;
  contention::Backoff backoff = contention::Backoff::exponential;
  // Restarts in a row after which a transaction runs serially. GCC's libitm has the same number.
  std::uint32_t serialise_after = 100;
  // Executions of a thread among which the profiler measures one, on average.
  std::uint32_t profile_period = 32;
  // Restarts in a row after which it closes the hourglass.
  std::uint32_t hourglass_after = kNever;
};

// Written by read_settings, and `algorithm` by automatic.cc.
extern Settings settings;

// Ends the process with status 2 and one line where a variable has no valid value.
void read_settings() noexcept;

// The program was made for hardware transactions, and the user has chosen nothing: `auto` stays
// with them. Where there are none, says so.
void want_hardware() noexcept;
// Tells the user, once, if there are no hardware transactions.
void note_hardware() noexcept;

} // namespace tandem
