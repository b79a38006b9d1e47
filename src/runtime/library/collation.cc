// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparing text by a locale's rules or by versions, and what a locale says of errors and signals.
// The plain functions do the work on private copies. Locales change by setlocale() only, which no
// program may call while other threads use them.
#include "runtime/library/access.h"
#include "runtime/library/scratch.h"
#include "runtime/transaction/transaction.h"

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>
#include <ctype.h>
#include <strings.h>

using namespace tandem;
using namespace tandem::library;

namespace {

// call(), a plain function that may set errno, which is then set by a barrier.
template <class Call> auto carrying_errno(Thread *thread, const Call &call) noexcept {
  int error = 0;
  const auto result = [&] {
    const KeptErrno kept;
    errno = 0;
    const auto value = call();
    error = errno;
    return value;
  }();
  if (error != 0)
    set_errno(error, thread);
  return result;
}

template <class Compare>
int compare_copies(const char *a, const char *b, Thread *thread, const Compare &compare) noexcept {
  Scratch scratch(thread);
  const char *left = scratch.string(a);
  const char *right = scratch.string(b);
  return carrying_errno(thread, [&] { return compare(left, right); });
}

// transform(to, from, room) as strxfrm. A result that does not fit leaves `to` as the plain
// function does: it works on what lies there.
template <class Transform>
std::size_t transformed(char *to, const char *from, std::size_t room, Thread *thread,
                        const Transform &transform) noexcept {
  Scratch scratch(thread);
  const char *copy = scratch.string(from);
  const std::size_t length =
      carrying_errno(thread, [&] { return transform(static_cast<char *>(nullptr), copy, 0); });
  const std::size_t written = room > length ? length + 1 : room;
  if (written == 0)
    return length;
  auto *own = static_cast<char *>(scratch.take(written));
  if (written == room)
    read(own, to, written, thread);
  carrying_errno(thread, [&] { return transform(own, copy, written); });
  write(to, own, written, thread);
  return length;
}

int compare_folded(const char *a, const char *b, std::size_t most, locale_t locale,
                   Thread *thread) noexcept {
  return with_reads(thread, [&](auto reads) {
    Bytes left(a, reads);
    Bytes right(b, reads);
    for (std::size_t at = 0; at < most; ++at) {
      const std::uint8_t byte = left.take();
      const int difference = tolower_l(byte, locale) - tolower_l(right.take(), locale);
      if (difference != 0 || byte == 0)
        return difference;
    }
    return 0;
  });
}

// For a text that the plain function would make in a buffer of its own, which an earlier call's
// result may lie in: what nobody can undo.
void need_own_buffer() noexcept {
  if (Thread *thread = writer())
    transaction::become_irrevocable(*thread, profile::SerialCause::irrevocable_call);
}
bool is_constant(int error) noexcept { return strerrorname_np(error) != nullptr; }

} // namespace

TANDEM_WRAPPER int _ZGTt7strcoll(const char *a, const char *b) {
  Thread *thread = writer();
  return thread == nullptr ? std::strcoll(a, b) : compare_copies(a, b, thread, std::strcoll);
}
TANDEM_WRAPPER int _ZGTt9strcoll_l(const char *a, const char *b, locale_t locale) {
  Thread *thread = writer();
  if (thread == nullptr)
    return strcoll_l(a, b, locale);
  return compare_copies(a, b, thread, [locale](const char *left, const char *right) {
    return strcoll_l(left, right, locale);
  });
}
TANDEM_WRAPPER int _ZGTt10strverscmp(const char *a, const char *b) {
  Thread *thread = reader();
  return thread == nullptr ? strverscmp(a, b) : compare_copies(a, b, thread, strverscmp);
}

TANDEM_WRAPPER std::size_t _ZGTt7strxfrm(char *to, const char *from, std::size_t room) {
  Thread *thread = writer();
  return thread == nullptr ? std::strxfrm(to, from, room)
                           : transformed(to, from, room, thread, std::strxfrm);
}
TANDEM_WRAPPER std::size_t _ZGTt9strxfrm_l(char *to, const char *from, std::size_t room,
                                           locale_t locale) {
  Thread *thread = writer();
  if (thread == nullptr)
    return strxfrm_l(to, from, room, locale);
  return transformed(to, from, room, thread,
                     [locale](char *into, const char *text, std::size_t bytes) {
                       return strxfrm_l(into, text, bytes, locale);
                     });
}

TANDEM_WRAPPER int _ZGTt12strcasecmp_l(const char *a, const char *b, locale_t locale) {
  Thread *thread = reader();
  return thread == nullptr ? strcasecmp_l(a, b, locale)
                           : compare_folded(a, b, SIZE_MAX, locale, thread);
}
TANDEM_WRAPPER int _ZGTt13strncasecmp_l(const char *a, const char *b, std::size_t most,
                                        locale_t locale) {
  Thread *thread = reader();
  return thread == nullptr ? strncasecmp_l(a, b, most, locale)
                           : compare_folded(a, b, most, locale, thread);
}

// Texts of known numbers never change, also where they are translations.
TANDEM_WRAPPER char *_ZGTt8strerror(int error) {
  if (!is_constant(error))
    need_own_buffer();
  return std::strerror(error);
}
TANDEM_WRAPPER char *_ZGTt10strerror_l(int error, locale_t locale) {
  if (!is_constant(error))
    need_own_buffer();
  return strerror_l(error, locale);
}
TANDEM_WRAPPER char *_ZGTt9strsignal(int signal) {
  if (sigdescr_np(signal) == nullptr)
    need_own_buffer();
  return strsignal(signal);
}
