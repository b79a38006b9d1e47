// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source text in pieces: some replaced, the rest as it was or moved to the right.
#pragma once

#include "compiler/rewrite/model.h"

#include <string>
#include <string_view>
#include <vector>

namespace tandem::rewrite {

struct Piece {
  Range range;
  std::string text; // instead of it
};

// The spaces and tabs that the line of `offset` begins with.
std::string indentation_at(const std::string &text, unsigned offset);

// `range` of the source with `pieces`, which lie in it and do not overlap, replaced. Each line but
// the first gets `extra` in front, where it does not begin inside of a string.
std::string replace_pieces(const Source &source, Range range, const std::vector<Piece> &pieces,
                           const std::string &extra);

// The statements of a compound statement for a place of their own: lines without the empty ones at
// both ends. `first_indent` is for text that began beside the opening brace.
std::string as_lines(std::string_view inner, const std::string &first_indent);

} // namespace tandem::rewrite
