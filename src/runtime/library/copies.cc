// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that write memory and text. The checked ones (_FORTIFY_SOURCE) leave an overflow to the
// plain function, in a transaction that has become irrevocable: it ends the process as it would.
#include "runtime/library/access.h"
#include "runtime/library/scratch.h"
#include "runtime/transaction/transaction.h"

#include <algorithm>
#include <cstring>
#include <strings.h>

using namespace tandem;
using namespace tandem::library;

TANDEM_WRAPPER std::size_t _ZGTt6strlen(const char *);
TANDEM_WRAPPER std::size_t _ZGTt7strnlen(const char *, std::size_t);
TANDEM_WRAPPER void *_ZGTt6memchr(const void *, int, std::size_t);

extern "C" {
void *_ITM_memcpyRtWt(void *, const void *, std::size_t);
void _ITM_memmoveRtWt(void *, const void *, std::size_t);
void _ITM_memsetW(void *, int, std::size_t);
[[noreturn]] void __chk_fail();
}

namespace {

constexpr std::size_t kPiece = 256; // bytes on the stack, a multiple of 8

void *copy(void *to, const void *from, std::size_t bytes) noexcept {
  if (writer() == nullptr)
    return std::memcpy(to, from, bytes);
  _ITM_memcpyRtWt(to, from, bytes);
  return to;
}
void *move(void *to, const void *from, std::size_t bytes) noexcept {
  if (writer() == nullptr)
    return std::memmove(to, from, bytes);
  _ITM_memmoveRtWt(to, from, bytes);
  return to;
}
void *fill(void *to, int value, std::size_t bytes) noexcept {
  if (writer() == nullptr)
    return std::memset(to, value, bytes);
  _ITM_memsetW(to, value, bytes);
  return to;
}

// Copies a string of less than `most` bytes with its terminator, or its first `most` bytes. What
// was copied; `ended`: with the terminator.
std::size_t copy_text(char *to, const char *from, std::size_t most, bool &ended,
                      Thread *thread) noexcept {
  alignas(8) char piece[kPiece];
  std::size_t copied = 0;
  ended = false;
  while (copied < most && !ended) {
    const std::size_t now =
        read_string(piece, from + copied, std::min(kPiece, most - copied), thread);
    ended = piece[now - 1] == '\0';
    write(to + copied, piece, now, thread);
    copied += now;
  }
  return copied;
}

// The place of the terminator that is written.
char *copy_whole(char *to, const char *from, Thread *thread) noexcept {
  bool ended = false;
  return to + copy_text(to, from, SIZE_MAX, ended, thread) - 1;
}

// As strncpy: pads with zeros. The place of the first zero, or `to + bytes`.
char *copy_padded(char *to, const char *from, std::size_t bytes, Thread *thread) noexcept {
  bool ended = false;
  const std::size_t copied = copy_text(to, from, bytes, ended, thread);
  if (copied < bytes)
    _ITM_memsetW(to + copied, 0, bytes - copied);
  return ended ? to + copied - 1 : to + bytes;
}

// As strncat, behind the text at `to`.
void append(char *to, const char *from, std::size_t most, Thread *thread) noexcept {
  char *end = to + _ZGTt6strlen(to);
  bool ended = false;
  const std::size_t copied = copy_text(end, from, most, ended, thread);
  if (!ended)
    write_value(end + copied, '\0', thread);
}

[[noreturn]] void overflow() noexcept {
  if (current_thread != nullptr && current_thread->depth != 0)
    transaction::become_irrevocable(*current_thread, profile::SerialCause::irrevocable_call);
  __chk_fail();
}
void expect_room(std::size_t bytes, std::size_t room) noexcept {
  if (bytes > room) [[unlikely]]
    overflow();
}

} // namespace

TANDEM_WRAPPER void *_ZGTt6memcpy(void *to, const void *from, std::size_t bytes) {
  return copy(to, from, bytes);
}
TANDEM_WRAPPER void *_ZGTt7memmove(void *to, const void *from, std::size_t bytes) {
  return move(to, from, bytes);
}
TANDEM_WRAPPER void *_ZGTt6memset(void *to, int value, std::size_t bytes) {
  return fill(to, value, bytes);
}
TANDEM_WRAPPER void *_ZGTt7mempcpy(void *to, const void *from, std::size_t bytes) {
  return static_cast<char *>(copy(to, from, bytes)) + bytes;
}
TANDEM_WRAPPER void *_ZGTt7memccpy(void *to, const void *from, int last, std::size_t bytes) {
  if (writer() == nullptr)
    return memccpy(to, from, last, bytes);
  const void *found = _ZGTt6memchr(from, last, bytes);
  if (found == nullptr) {
    copy(to, from, bytes);
    return nullptr;
  }
  const std::size_t part =
      static_cast<std::size_t>(static_cast<const char *>(found) - static_cast<const char *>(from)) +
      1;
  return static_cast<char *>(copy(to, from, part)) + part;
}
TANDEM_WRAPPER void _ZGTt5bzero(void *to, std::size_t bytes) { fill(to, 0, bytes); }
TANDEM_WRAPPER void _ZGTt14explicit_bzero(void *to, std::size_t bytes) { fill(to, 0, bytes); }
TANDEM_WRAPPER void _ZGTt5bcopy(const void *from, void *to, std::size_t bytes) {
  move(to, from, bytes);
}

TANDEM_WRAPPER char *_ZGTt6strcpy(char *to, const char *from) {
  Thread *thread = writer();
  if (thread == nullptr)
    return std::strcpy(to, from);
  copy_whole(to, from, thread);
  return to;
}
TANDEM_WRAPPER char *_ZGTt6stpcpy(char *to, const char *from) {
  Thread *thread = writer();
  return thread == nullptr ? stpcpy(to, from) : copy_whole(to, from, thread);
}
TANDEM_WRAPPER char *_ZGTt8__stpcpy(char *to, const char *from) { return _ZGTt6stpcpy(to, from); }
TANDEM_WRAPPER char *_ZGTt7strncpy(char *to, const char *from, std::size_t bytes) {
  Thread *thread = writer();
  if (thread == nullptr)
    return std::strncpy(to, from, bytes);
  copy_padded(to, from, bytes, thread);
  return to;
}
TANDEM_WRAPPER char *_ZGTt7stpncpy(char *to, const char *from, std::size_t bytes) {
  Thread *thread = writer();
  return thread == nullptr ? stpncpy(to, from, bytes) : copy_padded(to, from, bytes, thread);
}
TANDEM_WRAPPER char *_ZGTt6strcat(char *to, const char *from) {
  Thread *thread = writer();
  if (thread == nullptr)
    return std::strcat(to, from);
  append(to, from, SIZE_MAX, thread);
  return to;
}
TANDEM_WRAPPER char *_ZGTt7strncat(char *to, const char *from, std::size_t most) {
  Thread *thread = writer();
  if (thread == nullptr)
    return std::strncat(to, from, most);
  append(to, from, most, thread);
  return to;
}

// GNU's: the result is the buffer, or a text that never changes.
TANDEM_WRAPPER char *_ZGTt10strerror_r(int error, char *buffer, std::size_t bytes) {
  Thread *thread = writer();
  if (thread == nullptr)
    return strerror_r(error, buffer, bytes);
  const KeptErrno kept;
  char own[kPiece];
  char *text = strerror_r(error, own, std::min(bytes, sizeof own));
  if (text != own)
    return text;
  if (bytes != 0)
    write(buffer, own, std::strlen(own) + 1, thread);
  return buffer;
}
TANDEM_WRAPPER int _ZGTt16__xpg_strerror_r(int error, char *buffer, std::size_t bytes);
extern "C" int __xpg_strerror_r(int, char *, std::size_t);
TANDEM_WRAPPER int _ZGTt16__xpg_strerror_r(int error, char *buffer, std::size_t bytes) {
  Thread *thread = writer();
  if (thread == nullptr)
    return __xpg_strerror_r(error, buffer, bytes);
  const KeptErrno kept;
  char own[kPiece];
  const std::size_t room = std::min(bytes, sizeof own);
  const int result = __xpg_strerror_r(error, own, room);
  if (room != 0)
    write(buffer, own, strnlen(own, room - 1) + 1, thread);
  return result;
}

TANDEM_WRAPPER void *_ZGTt12__memcpy_chk(void *to, const void *from, std::size_t bytes,
                                         std::size_t room) {
  expect_room(bytes, room);
  return copy(to, from, bytes);
}
TANDEM_WRAPPER void *_ZGTt13__memmove_chk(void *to, const void *from, std::size_t bytes,
                                          std::size_t room) {
  expect_room(bytes, room);
  return move(to, from, bytes);
}
TANDEM_WRAPPER void *_ZGTt12__memset_chk(void *to, int value, std::size_t bytes, std::size_t room) {
  expect_room(bytes, room);
  return fill(to, value, bytes);
}
TANDEM_WRAPPER void *_ZGTt13__mempcpy_chk(void *to, const void *from, std::size_t bytes,
                                          std::size_t room) {
  expect_room(bytes, room);
  return _ZGTt7mempcpy(to, from, bytes);
}
TANDEM_WRAPPER void _ZGTt20__explicit_bzero_chk(void *to, std::size_t bytes, std::size_t room) {
  expect_room(bytes, room);
  fill(to, 0, bytes);
}
TANDEM_WRAPPER char *_ZGTt12__strcpy_chk(char *to, const char *from, std::size_t room) {
  expect_room(_ZGTt7strnlen(from, room) + 1, room);
  return _ZGTt6strcpy(to, from);
}
TANDEM_WRAPPER char *_ZGTt12__stpcpy_chk(char *to, const char *from, std::size_t room) {
  expect_room(_ZGTt7strnlen(from, room) + 1, room);
  return _ZGTt6stpcpy(to, from);
}
TANDEM_WRAPPER char *_ZGTt13__strncpy_chk(char *to, const char *from, std::size_t bytes,
                                          std::size_t room) {
  expect_room(bytes, room);
  return _ZGTt7strncpy(to, from, bytes);
}
TANDEM_WRAPPER char *_ZGTt13__stpncpy_chk(char *to, const char *from, std::size_t bytes,
                                          std::size_t room) {
  expect_room(bytes, room);
  return _ZGTt7stpncpy(to, from, bytes);
}
TANDEM_WRAPPER char *_ZGTt12__strcat_chk(char *to, const char *from, std::size_t room) {
  const std::size_t used = _ZGTt7strnlen(to, room);
  expect_room(used + 1, room);
  expect_room(_ZGTt7strnlen(from, room - used) + used + 1, room);
  return _ZGTt6strcat(to, from);
}
TANDEM_WRAPPER char *_ZGTt13__strncat_chk(char *to, const char *from, std::size_t most,
                                          std::size_t room) {
  const std::size_t used = _ZGTt7strnlen(to, room);
  expect_room(used + 1, room);
  expect_room(_ZGTt7strnlen(from, std::min(most, room - used)) + used + 1, room);
  return _ZGTt7strncat(to, from, most);
}
