// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asking for a phase, waiting for locks, and what tests look at. What programs call is in inline.h.
#pragma once

#include "runtime/phases/inline.h"
#include "runtime/processor.h"

#include <cstdint>

namespace tandem::phases {

// Whether phases also change because of what threads wait for, and not on request() only. Earlier
// trials are forgotten. No section is entered meanwhile.
void set_adapting(bool adapting) noexcept;

// Asks for TANDEM_PHASE_TRANSACTIONS or TANDEM_PHASE_LOCKS: the next thread that enters a section
// of that part changes its phase, or gives up. Nothing where that is the phase, or it is changing.
// Any thread.
void request(std::uint32_t wanted, std::uint32_t part) noexcept;

// Waiting for a lock in a section: `begin_waiting` before; `keep_waiting` now and then and once it
// is acquired, with what the call before returned. Enough waiting leads to transactions.
std::int64_t begin_waiting() noexcept;
std::int64_t keep_waiting(std::int64_t since) noexcept;
// A short wait, in ticks of the processor: the thread has the lock by now, and looking at the clock
// would keep others out for longer.
void has_waited(std::uint64_t wait) noexcept;
inline std::uint64_t ticks() noexcept { return processor::ticks(); }

} // namespace tandem::phases
