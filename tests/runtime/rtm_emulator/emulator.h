// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an abort says, and what the emulator counts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::rtm_emulator {

// Bits of an abort's status. Source: Intel 64 and IA-32 Architectures Software Developer's Manual,
// volume 1, table 16-1.
inline constexpr std::uint32_t kExplicit = 1;
inline constexpr std::uint32_t kMayRetry = 2;
inline constexpr std::uint32_t kConflict = 4;
inline constexpr std::uint32_t kCapacity = 8;

inline constexpr std::size_t kCodes = 8; // arguments of XABORT that are told apart

struct Counts {
  unsigned long long begins;
  unsigned long long commits;
  unsigned long long conflicts;
  unsigned long long capacity;
  unsigned long long others;
  unsigned long long explicitly[kCodes];
};

} // namespace tandem::rtm_emulator
