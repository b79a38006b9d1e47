// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the process is busy with, for the line that an internal error prints: the section or the
// function that is being transformed, with its place. And who prints that line.
//
// For one thread, the one that compiles. Other threads, and signal handlers, may read it: they may
// then find a text that is being written, which is whole or cut short.
#pragma once

#include <string_view>

namespace tandem {

// While it lives: "enforcing section 'f' (a.c:3)". Objects end in the reverse order of their
// beginning.
class Doing {
public:
  // `what` is copied, as far as it fits into 255 bytes.
  explicit Doing(std::string_view what) noexcept;
  Doing(const Doing &) = delete;
  Doing &operator=(const Doing &) = delete;
  ~Doing();
};

// The innermost text; "" where there is none.
const char *doing() noexcept;

// Gets what a CHECK has found, "file:line: expression does not hold: state", instead of a message
// and an abort; does not return. Null: message and abort again. For the whole process.
using InternalErrorHandler = void (*)(const char *what) noexcept;
void on_internal_error(InternalErrorHandler told) noexcept;

} // namespace tandem
