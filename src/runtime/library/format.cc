// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/library/format.h"

#include "runtime/library/access.h"

#include <algorithm>
#include <cstdio>
#include <cwchar>

namespace tandem::library {
namespace {

enum class Kind : std::uint8_t { none, word, real, long_real, text, wide_text, count };

// What one argument is taken for. A text has the longest use that the format makes of it.
struct Use {
  static constexpr std::int64_t kUnlimited = INT64_MAX;

  Kind kind = Kind::none;
  std::uint8_t width = 4;  // bytes that %n writes
  bool limited_by = false; // `limit` is the number of the argument that says it
  std::int64_t limit = 0;  // of a text: bytes, or wide characters
};

// The arguments that a format takes, by position.
class Uses {
public:
  // False: the format has what this class does not know.
  bool parse(const char *format) noexcept {
    for (const char *at = format; *at != '\0';) {
      if (*at++ != '%')
        continue;
      if (!conversion(at))
        return false;
    }
    return true;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const Use &operator[](std::size_t i) const noexcept { return uses_[i]; }

private:
  static constexpr std::size_t kNoPosition = SIZE_MAX;

  // Digits; 0 where there are none, and beyond every limit where they are too many.
  static std::int64_t number(const char *&at) noexcept {
    std::int64_t value = 0;
    for (; *at >= '0' && *at <= '9'; ++at)
      value = std::min<std::int64_t>(value * 10 + (*at - '0'), 1 << 30);
    return value;
  }
  // "N$", or kNoPosition and nothing is consumed.
  static std::size_t position(const char *&at) noexcept {
    const char *next = at;
    const std::int64_t value = number(next);
    if (value == 0 || *next != '$')
      return kNoPosition;
    at = next + 1;
    return static_cast<std::size_t>(value - 1);
  }
  // The argument at `position`, or the next one. Null: there are too many.
  Use *argument(std::size_t position, std::size_t &index) noexcept {
    index = position == kNoPosition ? next_++ : position;
    if (index >= kMostArguments)
      return nullptr;
    size_ = std::max(size_, index + 1);
    return &uses_[index];
  }
  bool star(const char *&at, std::size_t &index) noexcept {
    ++at;
    Use *use = argument(position(at), index);
    if (use != nullptr)
      use->kind = Kind::word;
    return use != nullptr;
  }

  bool conversion(const char *&at) noexcept {
    const std::size_t place = position(at);
    while (*at != '\0' && std::strchr("-+ #0'I", *at) != nullptr)
      ++at;
    std::size_t index = 0;
    if (*at == '*') {
      if (!star(at, index))
        return false;
    } else {
      number(at);
    }
    Use limit{.limit = Use::kUnlimited};
    if (*at == '.') {
      ++at;
      if (*at == '*') {
        if (!star(at, index))
          return false;
        limit.limited_by = true;
        limit.limit = static_cast<std::int64_t>(index);
      } else {
        limit.limit = number(at);
      }
    }
    return value(at, place, limit);
  }

  bool value(const char *&at, std::size_t place, const Use &limit) noexcept {
    unsigned longs = 0; // 2: also L, q
    std::uint8_t width = 4;
    for (;; ++at) {
      if (*at == 'h') {
        width /= 2;
      } else if (*at == 'l') {
        ++longs;
        width = 8;
      } else if (*at == 'L' || *at == 'q') {
        longs = 2;
        width = 8;
      } else if (*at == 'j' || *at == 'z' || *at == 'Z' || *at == 't') {
        width = 8;
      } else {
        break;
      }
    }
    const char letter = *at;
    if (letter == '\0')
      return false;
    ++at;
    if (letter == '%' || letter == 'm')
      return true;
    std::size_t index = 0;
    Use *use = argument(place, index);
    if (use == nullptr)
      return false;
    if (std::strchr("diouxXcCp", letter) != nullptr) {
      use->kind = Kind::word;
    } else if (std::strchr("aAeEfFgG", letter) != nullptr) {
      use->kind = longs == 2 ? Kind::long_real : Kind::real;
    } else if (letter == 's' || letter == 'S') {
      widen(*use, letter == 'S' || longs != 0 ? Kind::wide_text : Kind::text, limit);
    } else if (letter == 'n') {
      use->kind = Kind::count;
      use->width = width == 0 ? 1 : width;
    } else {
      return false;
    }
    return true;
  }

  // One more use of a text.
  static void widen(Use &use, Kind kind, const Use &limit) noexcept {
    const bool again = use.kind == kind;
    use.kind = kind;
    if (!again) {
      use.limited_by = limit.limited_by;
      use.limit = limit.limit;
    } else if (use.limited_by || limit.limited_by) {
      use.limited_by = false; // positions are rare; what is copied too much does no harm but to
      use.limit = Use::kUnlimited; // a text without terminator
    } else {
      use.limit = std::max(use.limit, limit.limit);
    }
  }

  Use uses_[kMostArguments] = {};
  std::size_t size_ = 0;
  std::size_t next_ = 0;
};

// An argument list of our own: all of it in memory, as if the registers were used up.
// Source: System V ABI, 3.5.7, figure 3.34.
class OwnArguments {
public:
  void copy(const Uses &uses, Arguments from) noexcept {
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (uses[i].kind == Kind::long_real) {
        used_ = (used_ + 1) & ~std::size_t{1};
        const long double value = va_arg(from, long double);
        positions_[i] = used_;
        std::memcpy(&area_[used_], &value, sizeof value);
        used_ += 2;
      } else if (uses[i].kind == Kind::real) {
        const double value = va_arg(from, double);
        positions_[i] = used_;
        std::memcpy(&area_[used_++], &value, sizeof value);
      } else { // none: a position that the format leaves out; glibc takes it for an int
        positions_[i] = used_;
        area_[used_++] = va_arg(from, std::uint64_t);
      }
    }
  }
  std::uint64_t &operator[](std::size_t i) noexcept { return area_[positions_[i]]; }
  template <class T> void set(std::size_t i, T *pointer) noexcept {
    (*this)[i] = reinterpret_cast<std::uintptr_t>(pointer);
  }
  template <class T> T *pointer(std::size_t i) noexcept {
    return reinterpret_cast<T *>(static_cast<std::uintptr_t>((*this)[i]));
  }
  int print(char *to, std::size_t bytes, const char *format) noexcept {
    va_list list;
#if defined(__x86_64__)
    list->gp_offset = 48;
    list->fp_offset = 176;
    list->overflow_arg_area = area_;
    list->reg_save_area = nullptr;
#else // RV64: the address of the next one
    void *next = area_;
    static_assert(sizeof list == sizeof next);
    std::memcpy(&list, &next, sizeof next);
#endif
    return std::vsnprintf(to, bytes, format, list);
  }

private:
  alignas(16) std::uint64_t area_[2 * kMostArguments];
  std::size_t positions_[kMostArguments];
  std::size_t used_ = 0;
};

// A private copy of a wide string of at most `most` characters.
wchar_t *copy_wide(const wchar_t *from, std::size_t most, FormatScratch &scratch,
                   Thread *thread) noexcept {
  std::size_t length = 0;
  while (length < most && read_value(from + length, thread) != L'\0')
    ++length;
  auto *copy = static_cast<wchar_t *>(scratch.take((length + 1) * sizeof(wchar_t)));
  read(copy, from, length * sizeof(wchar_t), thread);
  copy[length] = L'\0';
  return copy;
}

void copy_texts(const Uses &uses, OwnArguments &own, FormatScratch &scratch,
                Thread *thread) noexcept {
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const Use &use = uses[i];
    if ((use.kind != Kind::text && use.kind != Kind::wide_text) || own[i] == 0)
      continue;
    std::int64_t limit = use.limit;
    if (use.limited_by) {
      limit = static_cast<std::int32_t>(own[static_cast<std::size_t>(use.limit)]);
      if (limit < 0)
        limit = Use::kUnlimited; // as if there were none
    }
    const auto most = static_cast<std::size_t>(limit);
    std::size_t length = 0;
    if (use.kind == Kind::text)
      own.set(i, scratch.string(own.pointer<const char>(i), most, length));
    else
      own.set(i, copy_wide(own.pointer<const wchar_t>(i), most, scratch, thread));
  }
}

} // namespace

bool writes_count(const char *format) noexcept {
  Uses uses;
  if (!uses.parse(format))
    return true;
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (uses[i].kind == Kind::count)
      return true;
  return false;
}

Formatted format_all(FormatScratch &scratch, const char *format, Arguments arguments,
                     Thread *thread) noexcept {
  const char *copy = scratch.string(format);
  Uses uses;
  if (!uses.parse(copy))
    return {nullptr, 0, false};
  OwnArguments own;
  own.copy(uses, arguments);
  copy_texts(uses, own, scratch, thread);
  std::uint64_t counts[kMostArguments];
  std::uint64_t *targets[kMostArguments];
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (uses[i].kind == Kind::count) {
      targets[i] = own.pointer<std::uint64_t>(i);
      own.set(i, &counts[i]);
    }
  Formatted result{nullptr, 0, true};
  const int seen_error = read_value(&errno, thread); // what %m prints
  int error = 0;
  {
    const KeptErrno kept;
    constexpr std::size_t kFirst = 512; // most lines of text
    result.text = static_cast<char *>(scratch.take(kFirst));
    errno = seen_error;
    result.length = own.print(result.text, kFirst, copy);
    if (result.length >= static_cast<int>(kFirst)) {
      const auto bytes = static_cast<std::size_t>(result.length) + 1;
      result.text = static_cast<char *>(scratch.take(bytes));
      errno = seen_error;
      result.length = own.print(result.text, bytes, copy);
    }
    error = errno;
  }
  if (result.length < 0) {
    set_errno(error, thread);
    return result;
  }
  for (std::size_t i = 0; i < uses.size(); ++i)
    if (uses[i].kind == Kind::count)
      write(targets[i], &counts[i], uses[i].width, thread);
  return result;
}

} // namespace tandem::library
