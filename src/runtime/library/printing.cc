// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// snprintf and its relatives, and asprintf.
#include "runtime/abi/itm_export.h"
#include "runtime/library/access.h"
#include "runtime/library/format.h"
#include "runtime/transaction/transaction.h"

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>

using namespace tandem;
using namespace tandem::library;

TANDEM_ITM void *_ITM_malloc(std::size_t);

extern "C" {
int __vsnprintf_chk(char *, std::size_t, int, std::size_t, const char *, va_list);
int __vsprintf_chk(char *, int, std::size_t, const char *, va_list);
int __vasprintf_chk(char **, int, const char *, va_list);
[[noreturn]] void __chk_fail();
}

namespace {

// Checks of _FORTIFY_SOURCE: `level` 0 is none; `room` is what the buffer has.
struct Checks {
  int level = 0;
  std::size_t room = SIZE_MAX;
};

int print_plainly(char *to, std::size_t bytes, Checks checks, const char *format,
                  Arguments arguments) noexcept {
  return __vsnprintf_chk(to, bytes, checks.level, checks.room, format, arguments);
}

int print(char *to, std::size_t bytes, Checks checks, const char *format,
          Arguments arguments) noexcept {
  Thread *thread = writer();
  if (thread == nullptr)
    return print_plainly(to, bytes, checks, format, arguments);
  FormatScratch scratch(thread);
  if (bytes <= checks.room && (checks.level == 0 || !writes_count(scratch.string(format)))) {
    const Formatted done = format_all(scratch, format, arguments, thread);
    if (done.understood) {
      if (done.length < 0 || bytes == 0)
        return done.length;
      const std::size_t part = std::min(bytes - 1, static_cast<std::size_t>(done.length));
      done.text[part] = '\0';
      write(to, done.text, part + 1, thread);
      return done.length;
    }
  }
  transaction::become_irrevocable(*thread, profile::SerialCause::irrevocable_call);
  return print_plainly(to, bytes, checks, format, arguments);
}

// Without a limit but the buffer's own: too long a text is an overflow.
int print_unlimited(char *to, Checks checks, const char *format, Arguments arguments) noexcept {
  Thread *thread = writer();
  if (thread == nullptr)
    return __vsprintf_chk(to, checks.level, checks.room, format, arguments);
  va_list again;
  va_copy(again, arguments);
  const std::size_t room = std::min<std::size_t>(checks.room, INT_MAX);
  FormatScratch scratch(thread);
  if (checks.level == 0 || !writes_count(scratch.string(format))) {
    const Formatted done = format_all(scratch, format, arguments, thread);
    if (done.understood && done.length < 0)
      return done.length;
    if (done.understood && static_cast<std::size_t>(done.length) < room) {
      write(to, done.text, static_cast<std::size_t>(done.length) + 1, thread);
      return done.length;
    }
  }
  transaction::become_irrevocable(*thread, profile::SerialCause::irrevocable_call);
  return __vsprintf_chk(to, checks.level, checks.room, format, again);
}

int print_allocated(char **to, int level, const char *format, Arguments arguments) noexcept {
  Thread *thread = writer();
  if (thread == nullptr)
    return __vasprintf_chk(to, level, format, arguments);
  va_list again;
  va_copy(again, arguments);
  FormatScratch scratch(thread);
  if (level == 0 || !writes_count(scratch.string(format))) {
    const Formatted done = format_all(scratch, format, arguments, thread);
    if (done.understood) {
      if (done.length < 0)
        return done.length;
      const std::size_t bytes = static_cast<std::size_t>(done.length) + 1;
      void *memory = _ITM_malloc(bytes);
      if (memory == nullptr) {
        set_errno(ENOMEM, thread);
        return -1;
      }
      std::memcpy(memory, done.text, bytes); // nobody else knows it
      write_value(to, static_cast<char *>(memory), thread);
      return done.length;
    }
  }
  transaction::become_irrevocable(*thread, profile::SerialCause::irrevocable_call);
  return __vasprintf_chk(to, level, format, again);
}

} // namespace

#define TANDEM_VARIABLE(CALL)                                                                      \
  va_list arguments;                                                                               \
  va_start(arguments, format);                                                                     \
  const int result = CALL;                                                                         \
  va_end(arguments);                                                                               \
  return result

TANDEM_WRAPPER int _ZGTt9vsnprintf(char *to, std::size_t bytes, const char *format,
                                   va_list arguments) {
  return print(to, bytes, {}, format, arguments);
}
TANDEM_WRAPPER int _ZGTt8snprintf(char *to, std::size_t bytes, const char *format, ...) {
  TANDEM_VARIABLE(print(to, bytes, {}, format, arguments));
}
TANDEM_WRAPPER int _ZGTt8vsprintf(char *to, const char *format, va_list arguments) {
  return print_unlimited(to, {}, format, arguments);
}
TANDEM_WRAPPER int _ZGTt7sprintf(char *to, const char *format, ...) {
  TANDEM_VARIABLE(print_unlimited(to, {}, format, arguments));
}
TANDEM_WRAPPER int _ZGTt9vasprintf(char **to, const char *format, va_list arguments) {
  return print_allocated(to, 0, format, arguments);
}
TANDEM_WRAPPER int _ZGTt8asprintf(char **to, const char *format, ...) {
  TANDEM_VARIABLE(print_allocated(to, 0, format, arguments));
}

TANDEM_WRAPPER int _ZGTt15__vsnprintf_chk(char *to, std::size_t bytes, int level, std::size_t room,
                                          const char *format, va_list arguments) {
  return print(to, bytes, {level, room}, format, arguments);
}
TANDEM_WRAPPER int _ZGTt14__snprintf_chk(char *to, std::size_t bytes, int level, std::size_t room,
                                         const char *format, ...) {
  TANDEM_VARIABLE(print(to, bytes, {level, room}, format, arguments));
}
TANDEM_WRAPPER int _ZGTt14__vsprintf_chk(char *to, int level, std::size_t room, const char *format,
                                         va_list arguments) {
  return print_unlimited(to, {level, room}, format, arguments);
}
TANDEM_WRAPPER int _ZGTt13__sprintf_chk(char *to, int level, std::size_t room, const char *format,
                                        ...) {
  TANDEM_VARIABLE(print_unlimited(to, {level, room}, format, arguments));
}
TANDEM_WRAPPER int _ZGTt15__vasprintf_chk(char **to, int level, const char *format,
                                          va_list arguments) {
  return print_allocated(to, level, format, arguments);
}
TANDEM_WRAPPER int _ZGTt14__asprintf_chk(char **to, int level, const char *format, ...) {
  TANDEM_VARIABLE(print_allocated(to, level, format, arguments));
}
