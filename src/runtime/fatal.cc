// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/fatal.h"

#include "base/characters.h"

#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace tandem {
namespace {

// Which library speaks; each of the runtime's libraries has its own copy of this file.
#ifndef TANDEM_LIBRARY
#define TANDEM_LIBRARY "libtandem"
#endif

constexpr int kUsageStatus = 2; // as base/result.h, which this library does not link

void print_line(const char *kind, const char *format, std::va_list arguments,
                void (*add)(char *, std::size_t) noexcept = nullptr) noexcept {
  char line[1024] = TANDEM_LIBRARY ": ";
  std::strcat(line, kind);
  const std::size_t prefix = std::strlen(line);
  // One byte less than is left, for the newline; a longer message is cut.
  std::vsnprintf(line + prefix, sizeof line - prefix - 1, format, arguments);
  if (add != nullptr) {
    const std::size_t message = std::strlen(line);
    add(line + message, sizeof line - message - 1);
  }
  char shown[sizeof line];
  const std::size_t length = copy_printable(line, shown, sizeof shown);
  shown[length] = '\n';
  // One write, so that lines of several threads do not mix; where standard error is closed nobody
  // reads it.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, shown, length + 1);
}

} // namespace

void (*describe_state)(char *text, std::size_t size) noexcept = nullptr;

void fatal(const char *format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  // Once: what it describes may be what is wrong.
  print_line("error: ", format, arguments, std::exchange(describe_state, nullptr));
  va_end(arguments);
  std::abort();
}

void refuse(const char *format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  print_line("error: ", format, arguments);
  va_end(arguments);
  ::_exit(kUsageStatus);
}

void say(const char *format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  print_line("", format, arguments);
  va_end(arguments);
}

void note(const char *format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  print_line("note: ", format, arguments);
  va_end(arguments);
}

} // namespace tandem
