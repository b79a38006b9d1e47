// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls between a program and its libraries. A function of a library is found at the first
// call, by code of the dynamic linker that hardware transactions cannot run; the plain code that
// they are may be the only one that ever calls it.
//
// What looks at all that is loaded is for the time before main, or for a thread while it loads a
// library: at any other time another thread that loads one, or a fork, may have the dynamic
// linker's locks, and wait for this thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem::linkage {

// Looks up what the program, and the libraries that it was started with, call. What is loaded later
// is left to the dynamic linker, whose choice depends on how that was done; and all is where it is
// told to watch calls (LD_AUDIT, LD_PROFILE).
void look_up_calls() noexcept;

using IsWanted = bool (*)(const char *name) noexcept;

// Whether something that is loaded asks others for a function that is wanted.
bool anything_calls(IsWanted is_wanted) noexcept;

// Where a program or a library is in memory.
struct Place {
  std::uintptr_t low = 0;
  std::size_t bytes = 0;
};
// Whether the one that the address is in does, and its place: none where the address is in neither.
// Any time, any thread: it takes no locks.
bool calls_from(std::uintptr_t address, IsWanted is_wanted, Place &place) noexcept;

} // namespace tandem::linkage
