// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C11 7.21.6.1 and 7.21.6.2, and what glibc adds.
#include "compiler/points_to/formats.h"

namespace tandem {

using llvm::StringRef;

namespace {

constexpr std::uint64_t kUnknownSize = ~std::uint64_t{0};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

StringRef take_digits(StringRef &rest) {
  const StringRef digits = rest.take_while(is_digit);
  rest = rest.drop_front(digits.size());
  return digits;
}

// h, hh, l, ll, L, q, j, z, t.
StringRef take_length(StringRef &rest) {
  const StringRef length = rest.take_while([](char c) { return StringRef("hlLqjzt").contains(c); });
  rest = rest.drop_front(length.size());
  return length;
}

std::uint64_t integer_size(StringRef length) {
  if (length.empty())
    return 4;
  return length == "hh" ? 1 : length == "h" ? 2 : 8;
}

std::uint64_t float_size(StringRef length) {
  if (length.empty())
    return 4;
  return length == "l" ? 8 : 16;
}

// The characters of %[...], behind the bracket.
bool skip_set(StringRef &rest) {
  rest.consume_front("^");
  const std::size_t end = rest.find(']', 1); // a bracket that comes first belongs to it
  if (end == StringRef::npos)
    return false;
  rest = rest.drop_front(end + 1);
  return true;
}

} // namespace

std::optional<std::vector<FormatConversion>> printf_conversions(StringRef rest) {
  constexpr StringRef kNumbers = "diouxXeEfFgGaAcCpbB";
  std::vector<FormatConversion> found;
  const auto take_star = [&] {
    if (!rest.consume_front("*"))
      take_digits(rest);
    else
      found.push_back({});
  };
  for (;;) {
    const std::size_t at = rest.find('%');
    if (at == StringRef::npos)
      return found;
    rest = rest.drop_front(at + 1);
    rest = rest.drop_while([](char c) { return StringRef("-+ #0'I").contains(c); });
    take_star();
    if (rest.consume_front("."))
      take_star();
    take_length(rest);
    if (rest.empty())
      return std::nullopt;
    const char letter = rest.front();
    rest = rest.drop_front();
    if (letter == '%' || letter == 'm')
      continue;
    if (letter == 's' || letter == 'S')
      found.push_back({.is_text = true});
    else if (kNumbers.contains(letter) || letter == 'n')
      found.push_back({});
    else
      return std::nullopt;
  }
}

std::optional<std::vector<FormatConversion>> scanf_conversions(StringRef rest) {
  std::vector<FormatConversion> found;
  for (;;) {
    const std::size_t at = rest.find('%');
    if (at == StringRef::npos)
      return found;
    rest = rest.drop_front(at + 1);
    const bool dropped = rest.consume_front("*");
    const StringRef width = take_digits(rest);
    if (rest.starts_with("$") || rest.starts_with("m"))
      return std::nullopt;
    const StringRef length = take_length(rest);
    if (rest.empty())
      return std::nullopt;
    const char letter = rest.front();
    rest = rest.drop_front();
    FormatConversion one;
    if (letter == '%')
      continue;
    if (letter == 'p')
      one.size = 8;
    else if (StringRef("diouxXn").contains(letter))
      one.size = integer_size(length);
    else if (StringRef("eEfFgGaA").contains(letter))
      one.size = float_size(length);
    else if (StringRef("sScC[").contains(letter))
      one = {.is_text = true, .size = kUnknownSize};
    else
      return std::nullopt;
    if (letter == '[' && !skip_set(rest))
      return std::nullopt;
    if (std::uint64_t count = 0; one.is_text && length.empty() && !width.getAsInteger(10, count))
      one.size = count + 1;
    if (!dropped)
      found.push_back(one);
  }
}

} // namespace tandem
