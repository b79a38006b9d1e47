// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/common/terminal.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tandem {
namespace {

constexpr std::size_t kUsualWidth = 80; // of a terminal that does not tell

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

struct Choice {
  Colours colours = Colours::automatic;
  bool quiet = false;
};
Choice chosen;

std::size_t width_of(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  const char *columns = std::getenv("COLUMNS");
  const long asked = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
  return asked > 0 ? static_cast<std::size_t>(asked) : kUsualWidth;
}

bool wants_colour() {
  const char *no_colour = std::getenv("NO_COLOR");
  const char *kind = std::getenv("TERM");
  return (no_colour == nullptr || *no_colour == '\0') &&
         (kind == nullptr || std::string_view(kind) != "dumb");
}

// Where the first `columns` columns of `text` end.
std::size_t prefix_bytes(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (!is_continuation(text[at]) && columns-- == 0)
      break;
  return at;
}

} // namespace

Terminal Terminal::of(std::FILE *stream) {
  const int descriptor = ::fileno(stream);
  if (::isatty(descriptor) == 0)
    return {.colour = chosen.colours == Colours::always};
  return {.interactive = !(chosen.quiet && stream == stderr),
          .width = width_of(descriptor),
          .colour = chosen.colours == Colours::always ||
                    (chosen.colours == Colours::automatic && wants_colour())};
}

void Terminal::choose(Colours colours, bool quiet) { chosen = {colours, quiet}; }

std::string Terminal::paint(Colour which, std::string_view text) const {
  static constexpr const char *kCodes[] = {"", "1", "2", "31", "32", "33", "35"};
  if (!colour || which == Colour::plain || text.empty())
    return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", kCodes[static_cast<std::size_t>(which)], text);
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !is_continuation(byte); }));
}

std::string shorten(std::string_view text, std::size_t width, Cut cut) {
  const std::size_t columns = display_width(text);
  if (width == 0 || columns <= width)
    return std::string(text);
  const std::size_t kept = width - 1;
  const std::size_t before = cut == Cut::end ? kept : cut == Cut::start ? 0 : (kept + 1) / 2;
  const std::size_t after = kept - before;
  return std::string(text.substr(0, prefix_bytes(text, before))) + "…" +
         std::string(text.substr(prefix_bytes(text, columns - after)));
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = 0;
  bool line_is_empty = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty())
      continue;
    const std::size_t size = display_width(word);
    if (!line_is_empty && width != 0 && column + 1 + size > width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!line_is_empty) {
      result += ' ';
      ++column;
    }
    result += word;
    column += size;
    line_is_empty = false;
  }
  return result;
}

std::string thousands(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;)
    digits.insert(at -= 3, ",");
  return digits;
}

std::string counted(std::uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", thousands(number), number == 1 ? one : many);
}

} // namespace tandem
