// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of the transactional memory ABI that GCC's -fgnu-tm emits calls for. Source: Intel,
// "Transactional Memory Compiler and Runtime Application Binary Interface" 1.1; libitm.texi.
#pragma once

#include <cstdint>

namespace tandem::itm {

// What the compiler knows about a transaction, given to begin.
enum Properties : std::uint32_t {
  kInstrumentedCode = 0x1,
  kUninstrumentedCode = 0x2,
  kHasNoAbort = 0x8, // no cancel is reachable
  kDoesGoIrrevocable = 0x40,
  // Not of the ABI (transaction/guarded_by.h): a section of a lock that guards its data; and one
  // that has code for Mode::guarded_by.
  kBeginsGuardedBy = 0x10000,
  kHasGuardedByCode = 0x20000
};

// What a begin asks its caller to do.
enum Actions : std::uint32_t {
  kRunInstrumented = 0x1,
  kRunUninstrumented = 0x2,
  kSaveLiveVariables = 0x4,
  kRestoreLiveVariables = 0x8,
  kAbort = 0x10,        // skip the transaction
  kRunGuardedBy = 0x100 // not of the ABI: run the code for Mode::guarded_by
};

// Why a program aborts a transaction; bits.
enum AbortReason : std::uint32_t { kUserAbort = 1, kOuterAbort = 16 };

enum HowExecuting : std::uint32_t { kOutside = 0, kRetryable = 1, kIrrevocable = 2 };

inline constexpr int kVersion = 90; // 0.90, as GCC's
inline constexpr std::uint64_t kNoTransaction = 1;

} // namespace tandem::itm
