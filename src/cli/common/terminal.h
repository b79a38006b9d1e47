// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a stream can show: how wide it is, and whether it takes colours. Text from outside (names of
// symbols, paths) goes through printable() (base/printable.h) before it
// is shown.
#pragma once

#include "base/printable.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace tandem {

enum class Colour : std::uint8_t { plain, bold, dim, red, green, yellow, magenta };

// --color: whether output has colours.
enum class Colours : std::uint8_t { automatic, always, never };

struct Terminal {
  bool interactive = false; // a person is watching: long lists are cut, progress is drawn
  std::size_t width = 0;    // columns; 0: no limit
  bool colour = false;

  // What `stream` is connected to, and what the user has chosen. Colours, unless chosen, only on a
  // terminal, and not where NO_COLOR is set (to anything but nothing) or TERM is "dumb".
  static Terminal of(std::FILE *stream);

  // The user's choice, for the whole process; before threads. `quiet`: no progress on standard
  // error.
  static void choose(Colours colours, bool quiet);

  // `text` in `colour`; unchanged where colours are off.
  [[nodiscard]] std::string paint(Colour colour, std::string_view text) const;
};

// Columns that `text` takes: its code points. Wide East Asian characters count as one.
std::size_t display_width(std::string_view text);

// Where text that is too long loses characters: paths say most at their end, names at both ends.
enum class Cut : std::uint8_t { end, start, middle };

// `text` cut to `width` columns, with "…" for what is missing. Width 0: not cut.
std::string shorten(std::string_view text, std::size_t width, Cut cut = Cut::end);

// Words separated by spaces, in lines of at most `width` columns (0: one line) that all but the
// first begin with `indent` spaces. A word longer than a line gets one of its own.
std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

// 30712 -> "30,712".
std::string thousands(std::uint64_t number);

// "1 section", "2 sections".
std::string counted(std::uint64_t number, std::string_view one, std::string_view many);

} // namespace tandem
