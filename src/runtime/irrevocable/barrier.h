// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A full fence in every running thread of the process, paid by the rare side that asks for it
// (membarrier(2), private expedited).
#pragma once

#include <atomic>
#include <cstdint>

namespace tandem::barrier {

enum class Kernel : std::uint32_t { unknown, able, unable };

// What the kernel can do; tests set it to `unable`.
extern std::atomic<Kernel> kernel;

// Tells the kernel that everywhere() will be asked for. Where a process has threads already, that
// waits for all processors, some milliseconds.
void prepare() noexcept;

// Whether every other thread has passed a full fence between call and return. False where the
// kernel cannot do it (old, or forbidden by a sandbox): then the caller looks again after
// kLookAgainNs.
bool everywhere() noexcept;

inline constexpr std::int64_t kLookAgainNs = 1'000'000; // a store is visible long before

} // namespace tandem::barrier
