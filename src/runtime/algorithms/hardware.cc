// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/algorithms/hardware.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <sys/auxv.h>
#include <sys/single_threaded.h>

extern "C" {
// Defined by the emulator that the tests preload, and by nothing else.
[[gnu::weak, gnu::visibility("default")]] bool tandem_rtm_is_emulated() noexcept;
}

namespace tandem::hardware {

bool present() noexcept {
  if (&tandem_rtm_is_emulated != nullptr && tandem_rtm_is_emulated())
    return true;
#if defined(__riscv)
  // A program cannot ask a RISC-V processor in user mode: it says so (the machine's proxy kernel).
  return (getauxval(AT_HWCAP) >> ('x' - 'a') & 1) != 0;
#else
  // Source: the manual, volume 2, CPUID, leaf 7.
  constexpr unsigned kRtm = 1U << 11;          // EBX
  constexpr unsigned kAlwaysAborts = 1U << 11; // EDX: microcode has taken RTM away
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kRtm) != 0 &&
         (d & kAlwaysAborts) == 0;
#endif
}

void adopt_settings() noexcept {
  constexpr std::uint32_t kQuick = kSpecialSerial | kSpecialAdapt;
  const char *now = &kNever;
  if (in_use() && (settings.special & ~kQuick) == 0)
    now = (settings.special & kSpecialSerial) != 0 ? &__libc_single_threaded : &kAlways;
  not_now.store(now, std::memory_order_relaxed);
  quick.store(now != &kNever, std::memory_order_relaxed);
  serial::word.writing.store(in_use() ? 0 : kOthersRun, std::memory_order_release);
}

} // namespace tandem::hardware
