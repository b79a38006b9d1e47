// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Returning from a begin for the second time: the registers that the calling convention preserves.
// x86-64, System V: the control bits of MXCSR and of the x87 unit stay as they are, as with setjmp.
// RV64, LP64D: fcsr does.
#pragma once

#include "runtime/thread/thread.h"

#include <cstdint>

#if defined(__riscv)
// Loads or stores, by the instructions LOAD and FLOAD, each preserved register at SAVED and
// FLOATING (byte offsets, text) from the register FROM.
#define TANDEM_EACH_SAVED(LOAD, FLOAD, SAVED, FLOATING, FROM)                                      \
  TANDEM_SAVED_4(LOAD, "s", SAVED, FROM, "0", "1", "2", "3", "0", "8", "16", "24")                 \
  TANDEM_SAVED_4(LOAD, "s", SAVED, FROM, "4", "5", "6", "7", "32", "40", "48", "56")               \
  TANDEM_SAVED_4(LOAD, "s", SAVED, FROM, "8", "9", "10", "11", "64", "72", "80", "88")             \
  TANDEM_SAVED_4(FLOAD, "fs", FLOATING, FROM, "0", "1", "2", "3", "0", "8", "16", "24")            \
  TANDEM_SAVED_4(FLOAD, "fs", FLOATING, FROM, "4", "5", "6", "7", "32", "40", "48", "56")          \
  TANDEM_SAVED_4(FLOAD, "fs", FLOATING, FROM, "8", "9", "10", "11", "64", "72", "80", "88")
#define TANDEM_SAVED_4(LOAD, KIND, AT, FROM, A, B, C, D, W, X, Y, Z)                               \
  LOAD " " KIND A ", " AT "+" W "(" FROM ")\n\t" LOAD " " KIND B ", " AT "+" X "(" FROM            \
       ")\n\t" LOAD " " KIND C ", " AT "+" Y "(" FROM ")\n\t" LOAD " " KIND D ", " AT "+" Z        \
       "(" FROM ")\n\t"
#endif

namespace tandem::transaction {

// Returns `actions` from the begin that `buffer` is from. The frames in between end without their
// destructors, which is what undoing a transaction means.
[[noreturn]] void jump(std::uint32_t actions, const JumpBuffer &buffer) noexcept;

} // namespace tandem::transaction
