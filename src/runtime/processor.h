// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime asks of the processor, beyond C++: x86-64, and RV64GC, that of the simulated
// machine. Hardware transactions are in algorithms/hardware.h, the registers that a begin saves in
// transaction/jump.h.
#pragma once

#include <cstdint>

#if !defined(__x86_64__) && !(defined(__riscv) && __riscv_xlen == 64)
#error "the runtime is for x86-64 and RV64"
#endif

// A function that changes no register but those of its result, where the compiler has such a
// convention; else an ordinary one.
#if defined(__x86_64__)
#define TANDEM_PRESERVE_MOST clang::preserve_most
#define TANDEM_PRESERVE_MOST_TYPE __attribute__((preserve_most))
#else
#define TANDEM_PRESERVE_MOST gnu::nothrow
#define TANDEM_PRESERVE_MOST_TYPE
#endif

namespace tandem::processor {

// Time at a constant rate, of any origin; on x86-64 that of the time stamp counter, some GHz, on
// RV64 that of the `time` register.
[[gnu::always_inline]] inline std::uint64_t ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  std::uint64_t now = 0;
  __asm__ volatile("rdtime %0" : "=r"(now));
  return now;
#endif
}

// About so many ticks are a microsecond; of x86-64's counters, which differ, a usual number.
#if defined(__x86_64__)
inline constexpr std::uint64_t kTicksOfMicrosecond = 2500;
#else
inline constexpr std::uint64_t kTicksOfMicrosecond = 10;
#endif

// One round of waiting without giving the processor away.
[[gnu::always_inline]] inline void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  __asm__ volatile(".insn i 0x0f, 0, x0, x0, 0x010"); // pause, of Zihintpause: a fence elsewhere
#endif
}

// Anything between the calling frame and its caller's.
[[gnu::always_inline]] inline std::uintptr_t stack_pointer() noexcept {
  std::uintptr_t stack = 0;
#if defined(__x86_64__)
  __asm__("movq %%rsp, %0" : "=r"(stack));
#else
  __asm__("mv %0, sp" : "=r"(stack));
#endif
  return stack;
}

} // namespace tandem::processor
