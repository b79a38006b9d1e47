// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which function a call goes to, found as glibc's dynamic linker finds it at the first call,
// without asking that one: dlsym takes its locks, and dlvsym does not find what a preloaded library
// defines without a version. Source: System V ABI, chapter 5; the behaviour of glibc 2.36 where
// versions meet objects without them.
#pragma once

#include "runtime/linkage/objects.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tandem::linkage {

// The address of the function that a call of `from`'s symbol, by its index, goes to; 0: there is
// none, or the dynamic linker has to decide. `scope`: Objects::program(), with `from` in it.
std::uintptr_t function_of(const Object &from, std::size_t symbol,
                           std::span<const Object> scope) noexcept;

} // namespace tandem::linkage
