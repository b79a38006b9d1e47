// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text from outside as it may go to a terminal (base/characters.h says how) or into a page.
#pragma once

#include <string>
#include <string_view>

namespace tandem {

// `text` with control characters, what changes its direction, and bytes that are not UTF-8 written
// out (\n, \x1b, \u202e), so that a name can neither write escape sequences to the terminal nor
// begin a line of its own. Any thread.
std::string printable(std::string_view text);

// The same for text of several lines that we made: newlines stay.
std::string printable_lines(std::string_view text);

// printable() as text or a quoted attribute of HTML, XML and SVG: & < > " are entities. Any thread.
std::string markup(std::string_view text);

} // namespace tandem
