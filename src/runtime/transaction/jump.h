// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Returning from a begin for the second time. x86-64, System V: the calling convention's preserved
// registers; the control bits of MXCSR and of the x87 unit stay as they are, as with setjmp.
#pragma once

#include "runtime/thread/thread.h"

#include <cstdint>

namespace tandem::transaction {

// Returns `actions` from the begin that `buffer` is from. The frames in between end without their
// destructors, which is what undoing a transaction means.
[[noreturn]] void jump(std::uint32_t actions, const JumpBuffer &buffer) noexcept;

} // namespace tandem::transaction
