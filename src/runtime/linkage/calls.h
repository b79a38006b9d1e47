// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls between a program and its libraries. A function of a library is found at the first
// call, by code of the dynamic linker that hardware transactions cannot run; the plain code that
// they are may be the only one that ever calls it.
//
// Any of these is for the time before main, or for a thread while it loads a library: at any other
// time another thread that loads one, or a fork, may have the dynamic linker's locks, and wait for
// this thread.
#pragma once

namespace tandem::linkage {

// Looks up what the program, and the libraries that it was started with, call. What is loaded later
// is left to the dynamic linker, whose choice depends on how that was done; and all is where it is
// told to watch calls (LD_AUDIT, LD_PROFILE).
void look_up_calls() noexcept;

// Whether something that is loaded asks others for a function that `is_wanted`.
bool anything_calls(bool (*is_wanted)(const char *name) noexcept) noexcept;

} // namespace tandem::linkage
