// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formatted output from transactional memory: the format and the strings that it takes are copied
// to private memory, glibc formats those, and what %n asks for is written back transactionally. All
// of glibc's conversions, with positions; more than kMostArguments arguments, or a conversion that
// glibc 2.36 does not know, make the transaction irrevocable, as the plain function then gets them.
//
// Source: printf(3), glibc 2.36; System V ABI for x86-64, 3.5.7 (va_list).
#pragma once

#include "runtime/library/scratch.h"
#include "runtime/thread/thread.h"

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tandem::library {

// Unnamed argument lists of the kind that a function gets.
using Arguments = std::decay_t<va_list>;

inline constexpr std::size_t kMostArguments = 64;

using FormatScratch = Scratch<1536>;

struct Formatted {
  char *text;      // private, with a terminator
  int length;      // as vsnprintf's result: below 0, and errno is set, where it failed
  bool understood; // else nothing is done: the plain function has to do it
};

// Formats all of it. `thread` is speculating (access.h).
Formatted format_all(FormatScratch &scratch, const char *format, Arguments arguments,
                     Thread *thread) noexcept;

// Whether the format, which is private, has a %n.
bool writes_count(const char *format) noexcept;

} // namespace tandem::library
