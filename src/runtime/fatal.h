// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the runtime ends a process that it cannot let run on. It lives in other people's programs: no
// allocation, no locks, no C++ library, one line on standard error, with control characters of
// names and values written out (base/characters.h).
#pragma once

#include <cstddef>

namespace tandem {

// Our bug, or code that breaks the ABI's rules: prints `LIBRARY: error: MESSAGE` and aborts. Any
// thread.
[[noreturn, gnu::format(printf, 1, 2)]] void fatal(const char *format, ...) noexcept;

// What fatal() adds to its line: writes to `text`, which has `size` bytes and is empty, what the
// calling thread is doing. Null: nothing. Set before main.
extern void (*describe_state)(char *text, std::size_t size) noexcept;

// The user's mistake, found before anything ran: the same line, then exit status 2 without atexit
// handlers, because other threads may be running.
[[noreturn, gnu::format(printf, 1, 2)]] void refuse(const char *format, ...) noexcept;

// The line alone: `LIBRARY: MESSAGE`.
[[gnu::format(printf, 1, 2)]] void say(const char *format, ...) noexcept;

// What the user should know, who asked for something else: `LIBRARY: note: MESSAGE`.
[[gnu::format(printf, 1, 2)]] void note(const char *format, ...) noexcept;

} // namespace tandem
