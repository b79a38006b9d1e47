// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where everything is in physical memory, and which interrupts devices have: as QEMU's `virt` has
// it, so that one kernel image boots on both.
#pragma once

#include <cstdint>

namespace tandem::machine::map {

inline constexpr std::uint64_t kExit = 0x10'0000;
inline constexpr std::uint64_t kPlic = 0xC00'0000;
inline constexpr std::uint64_t kUart = 0x1000'0000;
inline constexpr unsigned kUartInterrupt = 10;
inline constexpr std::uint64_t kVirtio = 0x1000'1000;
inline constexpr std::uint64_t kVirtioStride = 0x1000;
inline constexpr unsigned kVirtioSlots = 8;
inline constexpr unsigned kVirtioInterrupt = 1; // of slot 0
inline constexpr std::uint64_t kMemory = 0x8000'0000;
// Where S-mode begins: firmware of other machines lies below.
inline constexpr std::uint64_t kStart = 0x8020'0000;

inline constexpr unsigned kHartsMaximum = 64;
inline constexpr std::uint64_t kTimebaseHz = 10'000'000; // a tick is 100 cycles of 1 GHz
inline constexpr std::uint64_t kCyclesPerTick = 100;

} // namespace tandem::machine::map
