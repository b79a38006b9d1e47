// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// strtol, strtod and their relatives, atoi: the plain function works on a private copy of what it
// may at most consume, and the end that it finds is carried over.
#include "runtime/library/access.h"
#include "runtime/library/scratch.h"

#include <cctype>
#include <cinttypes>
#include <cstdlib>

using namespace tandem;
using namespace tandem::library;

namespace {

// Whether a byte that is not white space at the beginning may be part of a number in any locale:
// letters (bases to 36, inf, nan, exponents), digits, signs, points, nan(...).
bool in_integer(std::uint8_t byte) noexcept {
  return std::isalnum(byte) != 0 || byte == '+' || byte == '-';
}
bool in_real(std::uint8_t byte) noexcept {
  return in_integer(byte) || byte == '.' || byte == ',' || byte == '(' || byte == ')' ||
         byte == '_' || byte >= 0x80;
}

// The prefix of `text` that may be a number, with a terminator.
template <std::size_t Inline>
const char *copy_number(const char *text, bool part(std::uint8_t), Scratch<Inline> &scratch,
                        Thread *thread) noexcept {
  const std::size_t length = with_reads(thread, [&](auto reads) {
    Bytes bytes(text, reads);
    std::size_t at = 0;
    std::uint8_t byte = bytes.take();
    for (; byte != 0 && std::isspace(byte) != 0; byte = bytes.take())
      ++at;
    for (; byte != 0 && part(byte); byte = bytes.take())
      ++at;
    return at;
  });
  auto *copy = static_cast<char *>(scratch.take(length + 1));
  read(copy, text, length, thread);
  copy[length] = '\0';
  return copy;
}

// parse(copy, &end) by the plain function; `end` may be null.
template <class Parse>
auto number(const char *text, char **end, bool part(std::uint8_t), Thread *thread,
            const Parse &parse) noexcept {
  Scratch<256> scratch(thread);
  const char *copy = copy_number(text, part, scratch, thread);
  char *stop = nullptr;
  int error = 0;
  const auto value = [&] {
    const KeptErrno kept;
    errno = 0;
    const auto parsed = parse(copy, &stop);
    error = errno;
    return parsed;
  }();
  if (error != 0)
    set_errno(error, thread);
  if (end != nullptr && stop != nullptr) // not for a base that there is none of
    write_value(end, const_cast<char *>(text) + (stop - copy), thread);
  return value;
}

} // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are types and names
#define TANDEM_INTEGER(WRAPPER, NAME, TYPE)                                                        \
  TANDEM_WRAPPER TYPE WRAPPER(const char *text, char **end, int base) {                            \
    Thread *thread = writer();                                                                     \
    if (thread == nullptr)                                                                         \
      return NAME(text, end, base);                                                                \
    return number(text, end, in_integer, thread,                                                   \
                  [base](const char *copy, char **stop) { return NAME(copy, stop, base); });       \
  }
#define TANDEM_REAL(WRAPPER, NAME, TYPE)                                                           \
  TANDEM_WRAPPER TYPE WRAPPER(const char *text, char **end) {                                      \
    Thread *thread = writer();                                                                     \
    if (thread == nullptr)                                                                         \
      return NAME(text, end);                                                                      \
    return number(text, end, in_real, thread,                                                      \
                  [](const char *copy, char **stop) { return NAME(copy, stop); });                 \
  }
// NOLINTEND(bugprone-macro-parentheses)

TANDEM_INTEGER(_ZGTt6strtol, std::strtol, long)
TANDEM_INTEGER(_ZGTt7strtoll, std::strtoll, long long)
TANDEM_INTEGER(_ZGTt7strtoul, std::strtoul, unsigned long)
TANDEM_INTEGER(_ZGTt8strtoull, std::strtoull, unsigned long long)
TANDEM_INTEGER(_ZGTt9strtoimax, strtoimax, std::intmax_t)
TANDEM_INTEGER(_ZGTt9strtoumax, strtoumax, std::uintmax_t)
TANDEM_INTEGER(_ZGTt6strtoq, strtoq, long long)
TANDEM_INTEGER(_ZGTt7strtouq, strtouq, unsigned long long)
TANDEM_REAL(_ZGTt6strtod, std::strtod, double)
TANDEM_REAL(_ZGTt6strtof, std::strtof, float)
TANDEM_REAL(_ZGTt7strtold, std::strtold, long double)

TANDEM_WRAPPER int _ZGTt4atoi(const char *text) {
  return static_cast<int>(_ZGTt6strtol(text, nullptr, 10));
}
TANDEM_WRAPPER long _ZGTt4atol(const char *text) { return _ZGTt6strtol(text, nullptr, 10); }
TANDEM_WRAPPER long long _ZGTt5atoll(const char *text) { return _ZGTt7strtoll(text, nullptr, 10); }
TANDEM_WRAPPER double _ZGTt4atof(const char *text) { return _ZGTt6strtod(text, nullptr); }
