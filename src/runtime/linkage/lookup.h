// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which function a call goes to, found as glibc's dynamic linker finds it at the first call, and
// which address a pointer to a function has, without asking that one: dlsym takes its locks, and
// dlvsym does not find what a preloaded library defines without a version. Source: System V ABI,
// chapter 5; the behaviour of glibc 2.36 where versions meet objects without them.
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

// The address that pointers to the function of that name have, in its default version, as
// dlsym(RTLD_DEFAULT) finds it: of a program that is not position-independent it may be in the
// program. Where a library chooses the function, its choice is asked for. 0: there is none, or the
// dynamic linker has to decide. `scope`: Objects::program().
std::uintptr_t function_named(const char *name, std::span<const Object> scope) noexcept;

} // namespace tandem::linkage
