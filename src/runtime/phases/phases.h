// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asking for a phase, and what tests look at. What programs call is in inline.h.
#pragma once

#include "runtime/phases/inline.h"

#include <cstdint>

namespace tandem::phases {

// Whether phases also change because of what threads wait for, and not on request() only.
void set_adapting(bool adapting) noexcept;

// Asks for TANDEM_PHASE_TRANSACTIONS or TANDEM_PHASE_LOCKS: the next thread that enters a section
// changes the phase, or gives up. Nothing where that is the phase, or it is changing. Any thread.
void request(std::uint32_t wanted) noexcept;

} // namespace tandem::phases
