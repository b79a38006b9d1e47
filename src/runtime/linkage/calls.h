// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls between a program and its libraries. A function of a library is found at the first
// call, by code of the dynamic linker that hardware transactions cannot run; the plain code that
// they are may be the only one that ever calls it.
//
// The list of what is loaded is made before main, or by a thread while it loads a library: at any
// other time another thread that loads one, or a fork, may have the dynamic linker's locks, and
// wait for this thread. What the program was started with is never unloaded, and may be looked at
// whenever it is needed.
#pragma once

#include "runtime/linkage/objects.h"

#include <span>

namespace tandem::linkage {

// Looks up what the program, and the libraries that it was started with, call. What is loaded later
// is left to the dynamic linker, whose choice depends on how that was done; so are functions that a
// library other than glibc's chooses when they are looked up, as it may not be initialised; and all
// is where the dynamic linker is told to watch calls, or to find them otherwise (LD_AUDIT and its
// relatives, LD_PROFILE, LD_BIND_NOT, LD_DYNAMIC_WEAK), which decides_alone says. Any time;
// `started`: Objects::program().
void look_up_calls(std::span<const Object> started) noexcept;

// Whether the dynamic linker is told so. Asks the environment: for the time before main.
bool decides_alone() noexcept;

// What the object asks others for: the bits that `kind_of` gives for the functions, together; it is
// told whether the object takes the address, and so need not call the function itself. Any time.
using KindOf = unsigned (*)(const char *name, bool takes_address);
unsigned kinds_asked_for(const Object &object, KindOf kind_of) noexcept;

} // namespace tandem::linkage
