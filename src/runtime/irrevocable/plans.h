// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry of all colours of the process, for fork.
#pragma once

#include "runtime/irrevocable/colours.h"

namespace tandem::colours {

// While the lock is held no colour and no plan is made.
void lock_registry() noexcept;
void unlock_registry() noexcept;

// All colours in an order of acquisition. The lock is held.
struct Colours {
  Colour **list; // release_colours gives it back
  std::size_t count;
};
Colours all_colours() noexcept;
void release_colours(Colours colours) noexcept;
std::size_t colours_made() noexcept; // so far

} // namespace tandem::colours
