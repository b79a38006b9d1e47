// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs and libraries that sections are in, remembered: they may be unloaded, and others
// loaded in their place, before the profile is written.
#pragma once

#include <cstdint>

namespace tandem::profile {

struct Module {
  const char *path;   // as the dynamic linker knows it; empty: the program
  std::uint64_t base; // what is added to the addresses in its file
  const Module *next; // the one remembered before it
};

// What contains `address`, the same one for as long as that is loaded there; null where none does.
// For code that is running, or data of it. Takes no locks, calls no malloc; never freed.
const Module *module_of(const void *address) noexcept;

// All of them, linked by `next`.
const Module *remembered_modules() noexcept;

} // namespace tandem::profile
