// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one way in which text from outside (names of symbols, paths, values) goes to a terminal: what
// would do something there, or make lines look like others, is written out. No C++ library: the
// runtime, which lives in other people's programs, uses it too. Any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace tandem {

// Bytes of the UTF-8 character at the start of `text`; 0 where there is none. Refuses surrogates
// and overlong forms by their second byte (Unicode 15, table 3-7).
constexpr std::size_t character_size(std::string_view text) noexcept {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const unsigned first = byte(0);
  if (first < 0x80)
    return text.empty() ? 0 : 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size)
    return 0;
  for (std::size_t at = 1; at < size; ++at)
    if ((byte(at) & 0xc0) != 0x80)
      return 0;
  const unsigned second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
    return 0;
  return size;
}

// Whether a character does something instead of being seen: C0, DEL and C1; the separators of lines
// and paragraphs; what changes the direction of text (Unicode 15, Bidi_Control), which makes a line
// read otherwise than it is.
constexpr bool is_control(char32_t character) noexcept {
  return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x061c ||
         character == 0x200e || character == 0x200f ||
         (character >= 0x2028 && character <= 0x202e) ||
         (character >= 0x2066 && character <= 0x2069);
}

// The first of a text: its bytes, and its number, or, where they are not UTF-8, one byte.
struct Character {
  std::string_view bytes;
  char32_t code;
  bool valid;
};

// Takes it off `text`, which is not empty.
constexpr Character take_character(std::string_view &text) noexcept {
  const std::size_t size = character_size(text);
  const std::string_view bytes(text.data(), size == 0 ? 1 : size);
  text.remove_prefix(bytes.size());
  const auto first = static_cast<unsigned char>(bytes[0]);
  char32_t code = first;
  if (size > 1)
    code = first & (0xffU >> (size + 1));
  for (std::size_t at = 1; at < size; ++at)
    code = (code << 6) | (static_cast<unsigned char>(bytes[at]) & 0x3fU);
  return {bytes, code, size != 0};
}

// Room for what one character becomes: \u202e.
inline constexpr std::size_t kEscapeRoom = 8;

// Takes the first character off `text`, which is not empty, and gives what is shown for it: itself,
// or \n, \t, \r, \x1b (a control character, or a byte that is not UTF-8), \u202e, written to
// `room`.
constexpr std::string_view take_printable(std::string_view &text,
                                          char (&room)[kEscapeRoom]) noexcept {
  constexpr char kDigits[] = "0123456789abcdef";
  const Character taken = take_character(text);
  if (taken.valid && !is_control(taken.code))
    return taken.bytes;
  room[0] = '\\';
  const char letter = !taken.valid         ? '\0'
                      : taken.code == '\n' ? 'n'
                      : taken.code == '\t' ? 't'
                      : taken.code == '\r' ? 'r'
                                           : '\0';
  if (letter != '\0') {
    room[1] = letter;
    return {room, 2};
  }
  const std::size_t digits = taken.bytes.size() == 1 ? 2 : 4;
  room[1] = digits == 2 ? 'x' : 'u';
  for (std::size_t at = 0; at < digits; ++at)
    room[2 + at] = kDigits[(taken.code >> (4 * (digits - 1 - at))) & 0xfU];
  return {room, 2 + digits};
}

// `text` so, in at most `size` bytes of `out`, which end with a zero; characters are never cut.
// Result: the bytes before that. `size` is not 0.
constexpr std::size_t copy_printable(std::string_view text, char *out, std::size_t size) noexcept {
  std::size_t used = 0;
  while (!text.empty()) {
    char room[kEscapeRoom]{};
    const std::string_view shown = take_printable(text, room);
    if (used + shown.size() + 1 > size)
      break;
    for (const char byte : shown)
      out[used++] = byte;
  }
  out[used] = '\0';
  return used;
}

} // namespace tandem
