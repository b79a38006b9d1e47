// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of string.h that are called most: word by word, nothing allocated.
#include "runtime/library/access.h"

#include <algorithm>

using namespace tandem;
using namespace tandem::library;

namespace {

constexpr std::size_t kNowhere = SIZE_MAX;

// Position of the first byte `value` among the first `most`, or kNowhere; where `ended`, the byte 0
// ends the search, and `end` is its position.
template <bool ended>
std::size_t position_of(const void *from, std::uint8_t value, std::size_t most, std::size_t &end,
                        Thread *thread) noexcept {
  return with_reads(thread, [&](auto reads) -> std::size_t {
    Bytes bytes(from, reads);
    const std::uint64_t pattern = repeated(value);
    for (std::size_t at = 0; at < most;) {
      bytes.fill();
      const auto part = static_cast<unsigned>(std::min<std::size_t>(bytes.count(), most - at));
      const unsigned found = first_zero(bytes.bits() ^ pattern);
      if constexpr (ended) {
        const unsigned zero = first_zero(bytes.bits());
        if (zero < part && zero < found) {
          end = at + zero;
          return kNowhere;
        }
      }
      if (found < part)
        return at + found;
      at += part;
      bytes.drop(part);
    }
    return kNowhere;
  });
}

std::size_t length_of(const char *text, std::size_t most, Thread *thread) noexcept {
  std::size_t end = 0;
  const std::size_t found = position_of<false>(text, 0, most, end, thread);
  return found == kNowhere ? most : found;
}

// The order of two memories by their first difference among `most` bytes; where `ended`, a byte 0
// in both ends them.
template <bool ended>
int compare(const void *a, const void *b, std::size_t most, Thread *thread) noexcept {
  return with_reads(thread, [&](auto reads) -> int {
    Bytes left(a, reads);
    Bytes right(b, reads);
    for (std::size_t at = 0; at < most;) {
      left.fill();
      right.fill();
      const auto part = static_cast<unsigned>(
          std::min<std::size_t>(std::min(left.count(), right.count()), most - at));
      const std::uint64_t difference = left.bits() ^ right.bits();
      const unsigned differ =
          difference == 0 ? 8 : static_cast<unsigned>(std::countr_zero(difference)) / 8;
      if constexpr (ended) {
        const unsigned zero = first_zero(left.bits());
        if (zero < part && zero < differ)
          return 0;
      }
      if (differ < part)
        return static_cast<int>(left.bits() >> (differ * 8) & 0xff) -
               static_cast<int>(right.bits() >> (differ * 8) & 0xff);
      at += part;
      left.drop(part);
      right.drop(part);
    }
    return 0;
  });
}

// Whether reads may have any alignment: NOrec's, as long as nothing is written
// (algorithms/norec.h).
bool reads_anywhere(const Thread *thread) noexcept {
  return thread->mode == Mode::norec && thread->writes.empty() &&
         (thread->quick_end != nullptr || norec::not_joined(*thread));
}

// compare<false> then: half as many reads, and nothing to shift.
template <memory::Word U>
[[gnu::always_inline]] inline int compare_at(const std::uint8_t *a, const std::uint8_t *b,
                                             Thread *thread) noexcept {
  const U left = norec::Norec::read(reinterpret_cast<const U *>(a), thread);
  const U right = norec::Norec::read(reinterpret_cast<const U *>(b), thread);
  if (left == right)
    return 0;
  const auto first = [](U word) { // the first byte decides first
    return sizeof(U) == 1 ? word : __builtin_bswap64(word) >> (64 - 8 * sizeof(U));
  };
  return first(left) < first(right) ? -1 : 1;
}
int compare_anywhere(const void *left, const void *right, std::size_t bytes,
                     Thread *thread) noexcept {
  const auto *a = static_cast<const std::uint8_t *>(left);
  const auto *b = static_cast<const std::uint8_t *>(right);
  constexpr std::size_t kWord = 8;
  std::size_t at = 0;
  for (; bytes - at >= kWord; at += kWord)
    if (const int order = compare_at<std::uint64_t>(a + at, b + at, thread); order != 0)
      return order;
  if (at == bytes)
    return 0;
  if (bytes >= kWord) // once more some that are equal
    return compare_at<std::uint64_t>(a + bytes - kWord, b + bytes - kWord, thread);
  int order = 0;
  if ((bytes & 4) != 0) {
    order = compare_at<std::uint32_t>(a, b, thread);
    at = 4;
  }
  if (order == 0 && (bytes & 2) != 0) {
    order = compare_at<std::uint16_t>(a + at, b + at, thread);
    at += 2;
  }
  if (order == 0 && (bytes & 1) != 0)
    order = compare_at<std::uint8_t>(a + at, b + at, thread);
  return order;
}

char *place(const void *text, std::size_t position) noexcept {
  return position == kNowhere ? nullptr : static_cast<char *>(const_cast<void *>(text)) + position;
}

char *find_in_text(const char *text, int value, Thread *thread) noexcept {
  std::size_t end = 0;
  const auto byte = static_cast<std::uint8_t>(value);
  return byte == 0 ? place(text, length_of(text, kNowhere, thread))
                   : place(text, position_of<true>(text, byte, kNowhere, end, thread));
}

// The last one; among `most` bytes, or where `ended` to the byte 0.
template <bool ended>
char *find_last(const void *from, int value, std::size_t most, Thread *thread) noexcept {
  const auto byte = static_cast<std::uint8_t>(value);
  return with_reads(thread, [&](auto reads) {
    Bytes bytes(from, reads);
    std::size_t found = kNowhere;
    for (std::size_t at = 0; at < most; ++at) {
      const std::uint8_t next = bytes.take();
      if (next == byte)
        found = at;
      if (ended && next == 0)
        break;
    }
    return place(from, found);
  });
}

} // namespace

TANDEM_WRAPPER std::size_t _ZGTt6strlen(const char *text) {
  Thread *thread = reader();
  return thread == nullptr ? std::strlen(text) : length_of(text, kNowhere, thread);
}
TANDEM_WRAPPER std::size_t _ZGTt7strnlen(const char *text, std::size_t most) {
  Thread *thread = reader();
  return thread == nullptr ? strnlen(text, most) : length_of(text, most, thread);
}

TANDEM_WRAPPER void *_ZGTt6memchr(const void *from, int value, std::size_t bytes) {
  Thread *thread = reader();
  if (thread == nullptr)
    return const_cast<void *>(std::memchr(from, value, bytes));
  std::size_t end = 0;
  return place(from,
               position_of<false>(from, static_cast<std::uint8_t>(value), bytes, end, thread));
}
TANDEM_WRAPPER void *_ZGTt9rawmemchr(const void *from, int value) {
  return _ZGTt6memchr(from, value, kNowhere);
}
TANDEM_WRAPPER void *_ZGTt7memrchr(const void *from, int value, std::size_t bytes) {
  Thread *thread = reader();
  return thread == nullptr ? const_cast<void *>(memrchr(from, value, bytes))
                           : find_last<false>(from, value, bytes, thread);
}

TANDEM_WRAPPER int _ZGTt6memcmp(const void *a, const void *b, std::size_t bytes) {
  Thread *thread = reader();
  if (thread == nullptr)
    return std::memcmp(a, b, bytes);
  return reads_anywhere(thread) ? compare_anywhere(a, b, bytes, thread)
                                : compare<false>(a, b, bytes, thread);
}
TANDEM_WRAPPER int _ZGTt4bcmp(const void *a, const void *b, std::size_t bytes) {
  return _ZGTt6memcmp(a, b, bytes);
}
TANDEM_WRAPPER int _ZGTt10__memcmpeq(const void *a, const void *b, std::size_t bytes) {
  return _ZGTt6memcmp(a, b, bytes);
}

TANDEM_WRAPPER int _ZGTt6strcmp(const char *a, const char *b) {
  Thread *thread = reader();
  return thread == nullptr ? std::strcmp(a, b) : compare<true>(a, b, kNowhere, thread);
}
TANDEM_WRAPPER int _ZGTt7strncmp(const char *a, const char *b, std::size_t most) {
  Thread *thread = reader();
  return thread == nullptr ? std::strncmp(a, b, most) : compare<true>(a, b, most, thread);
}

TANDEM_WRAPPER char *_ZGTt6strchr(const char *text, int value) {
  Thread *thread = reader();
  return thread == nullptr ? const_cast<char *>(std::strchr(text, value))
                           : find_in_text(text, value, thread);
}
TANDEM_WRAPPER char *_ZGTt5index(const char *text, int value) { return _ZGTt6strchr(text, value); }
TANDEM_WRAPPER char *_ZGTt9strchrnul(const char *text, int value) {
  Thread *thread = reader();
  if (thread == nullptr)
    return const_cast<char *>(strchrnul(text, value));
  std::size_t end = 0;
  const auto byte = static_cast<std::uint8_t>(value);
  if (byte == 0)
    return place(text, length_of(text, kNowhere, thread));
  const std::size_t found = position_of<true>(text, byte, kNowhere, end, thread);
  return place(text, found == kNowhere ? end : found);
}
TANDEM_WRAPPER char *_ZGTt7strrchr(const char *text, int value) {
  Thread *thread = reader();
  return thread == nullptr ? const_cast<char *>(std::strrchr(text, value))
                           : find_last<true>(text, value, kNowhere, thread);
}
TANDEM_WRAPPER char *_ZGTt6rindex(const char *text, int value) {
  return _ZGTt7strrchr(text, value);
}
