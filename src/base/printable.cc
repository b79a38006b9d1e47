// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/printable.h"

#include "base/characters.h"

namespace tandem {

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    char room[kEscapeRoom]{};
    result += take_printable(text, room);
  }
  return result;
}

std::string printable_lines(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    result += printable(text.substr(0, end));
    if (end == std::string_view::npos)
      break;
    result += '\n';
    text.remove_prefix(end + 1);
  }
  return result;
}

std::string markup(std::string_view text) {
  std::string result;
  for (const char byte : printable(text))
    switch (byte) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += byte;
    }
  return result;
}

} // namespace tandem
