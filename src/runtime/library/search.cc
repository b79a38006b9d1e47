// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searching and splitting text. Needles and sets are copied to private memory, they are short;
// where the C library's algorithm matters (strstr takes linear time) so is the text.
#include "runtime/library/access.h"
#include "runtime/library/scratch.h"
#include "runtime/library/tokens.h"

#include <cctype>
#include <cstring>
#include <strings.h>

using namespace tandem;
using namespace tandem::library;

TANDEM_WRAPPER void *_ZGTt6memchr(const void *, int, std::size_t);

namespace {

// Any bytes but 0, which ends every text.
class ByteSet {
public:
  ByteSet(const char *members, Thread *thread) noexcept {
    with_reads(thread, [&](auto reads) {
      Bytes bytes(members, reads);
      while (const std::uint8_t byte = bytes.take())
        words_[byte / 64] |= std::uint64_t{1} << byte % 64;
    });
  }
  [[nodiscard]] bool contains(std::uint8_t byte) const noexcept {
    return (words_[byte / 64] >> byte % 64 & 1) != 0;
  }

private:
  std::uint64_t words_[4] = {};
};

// How many bytes from `text` on are in the set, or are not.
std::size_t span(const char *text, const ByteSet &set, bool members, Thread *thread) noexcept {
  return with_reads(thread, [&](auto reads) {
    Bytes bytes(text, reads);
    std::size_t length = 0;
    for (std::uint8_t byte = bytes.take(); byte != 0 && set.contains(byte) == members;
         byte = bytes.take())
      ++length;
    return length;
  });
}

int compare_folded(const char *a, const char *b, std::size_t most, Thread *thread) noexcept {
  return with_reads(thread, [&](auto reads) {
    Bytes left(a, reads);
    Bytes right(b, reads);
    for (std::size_t at = 0; at < most; ++at) {
      const std::uint8_t byte = left.take();
      const int difference = std::tolower(byte) - std::tolower(right.take());
      if (difference != 0 || byte == 0)
        return difference;
    }
    return 0;
  });
}

// `found` in the copy, as a place in the original.
template <class T, class Copy>
T *in_original(T *original, const Copy *copy, const Copy *found) noexcept {
  return found == nullptr ? nullptr : original + (found - copy);
}

} // namespace

namespace tandem::library {

char *next_token(char *text, const char *delimiters, char **rest, Thread *thread) noexcept {
  const ByteSet set(delimiters, thread);
  if (text == nullptr)
    text = read_value(rest, thread);
  if (text == nullptr)
    return nullptr;
  text += span(text, set, true, thread);
  if (read_value(text, thread) == '\0') {
    write_value(rest, text, thread);
    return nullptr;
  }
  char *end = text + span(text, set, false, thread);
  if (read_value(end, thread) != '\0') {
    write_value(end, '\0', thread);
    ++end;
  }
  write_value(rest, end, thread);
  return text;
}

} // namespace tandem::library

TANDEM_WRAPPER int _ZGTt10strcasecmp(const char *a, const char *b) {
  Thread *thread = reader();
  return thread == nullptr ? strcasecmp(a, b) : compare_folded(a, b, SIZE_MAX, thread);
}
TANDEM_WRAPPER int _ZGTt11strncasecmp(const char *a, const char *b, std::size_t most) {
  Thread *thread = reader();
  return thread == nullptr ? strncasecmp(a, b, most) : compare_folded(a, b, most, thread);
}

TANDEM_WRAPPER std::size_t _ZGTt6strspn(const char *text, const char *accept) {
  Thread *thread = reader();
  return thread == nullptr ? std::strspn(text, accept)
                           : span(text, ByteSet(accept, thread), true, thread);
}
TANDEM_WRAPPER std::size_t _ZGTt7strcspn(const char *text, const char *reject) {
  Thread *thread = reader();
  return thread == nullptr ? std::strcspn(text, reject)
                           : span(text, ByteSet(reject, thread), false, thread);
}
TANDEM_WRAPPER char *_ZGTt7strpbrk(const char *text, const char *accept) {
  Thread *thread = reader();
  if (thread == nullptr)
    return const_cast<char *>(std::strpbrk(text, accept));
  const char *found = text + span(text, ByteSet(accept, thread), false, thread);
  return read_value(found, thread) == '\0' ? nullptr : const_cast<char *>(found);
}

TANDEM_WRAPPER char *_ZGTt6strstr(const char *text, const char *wanted) {
  Thread *thread = reader();
  if (thread == nullptr)
    return const_cast<char *>(std::strstr(text, wanted));
  Scratch scratch(thread);
  const char *needle = scratch.string(wanted);
  const char *copy = scratch.string(text);
  return in_original(const_cast<char *>(text), copy,
                     static_cast<const char *>(std::strstr(copy, needle)));
}
TANDEM_WRAPPER char *_ZGTt10strcasestr(const char *text, const char *wanted) {
  Thread *thread = reader();
  if (thread == nullptr)
    return const_cast<char *>(strcasestr(text, wanted));
  Scratch scratch(thread);
  const char *needle = scratch.string(wanted);
  const char *copy = scratch.string(text);
  return in_original(const_cast<char *>(text), copy,
                     static_cast<const char *>(strcasestr(copy, needle)));
}
TANDEM_WRAPPER void *_ZGTt6memmem(const void *memory, std::size_t bytes, const void *wanted,
                                  std::size_t wanted_bytes) {
  Thread *thread = reader();
  if (thread == nullptr)
    return const_cast<void *>(memmem(memory, bytes, wanted, wanted_bytes));
  if (wanted_bytes > bytes)
    return nullptr;
  Scratch scratch(thread);
  auto *needle = static_cast<char *>(scratch.take(wanted_bytes));
  read(needle, wanted, wanted_bytes, thread);
  auto *copy = static_cast<char *>(scratch.take(bytes));
  read(copy, memory, bytes, thread);
  return in_original(static_cast<char *>(const_cast<void *>(memory)), copy,
                     static_cast<const char *>(memmem(copy, bytes, needle, wanted_bytes)));
}

TANDEM_WRAPPER char *_ZGTt8strtok_r(char *text, const char *delimiters, char **rest) {
  Thread *thread = writer();
  return thread == nullptr ? strtok_r(text, delimiters, rest)
                           : next_token(text, delimiters, rest, thread);
}
TANDEM_WRAPPER char *_ZGTt10__strtok_r(char *text, const char *delimiters, char **rest) {
  return _ZGTt8strtok_r(text, delimiters, rest);
}
TANDEM_WRAPPER char *_ZGTt6strsep(char **rest, const char *delimiters) {
  Thread *thread = writer();
  if (thread == nullptr)
    return strsep(rest, delimiters);
  char *text = read_value(rest, thread);
  if (text == nullptr)
    return nullptr;
  char *end = text + span(text, ByteSet(delimiters, thread), false, thread);
  if (read_value(end, thread) != '\0') {
    write_value(end, '\0', thread);
    write_value(rest, end + 1, thread);
  } else {
    write_value(rest, static_cast<char *>(nullptr), thread);
  }
  return text;
}
