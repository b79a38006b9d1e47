// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tokens of a file as written, before the preprocessor: where marks end, which lines lie in a
// string.
#pragma once

#include "compiler/rewrite/model.h"

#include "clang/Basic/LangOptions.h"
#include "clang/Basic/SourceManager.h"

#include <optional>
#include <string_view>
#include <vector>

namespace tandem::rewrite {

class Tokens {
public:
  Tokens(const clang::SourceManager &sources, clang::FileID file,
         const clang::LangOptions &language);

  // The attribute whose name begins at `offset`, with all that goes when it goes: its brackets, or
  // its comma in a longer list, and the space beside it.
  [[nodiscard]] std::optional<Range> attribute(unsigned offset) const;
  // A word and the space behind it, up to what follows in the line.
  [[nodiscard]] Range word(unsigned begin, unsigned end) const;
  // Past the first semicolon from `offset` on.
  [[nodiscard]] std::optional<unsigned> past_semicolon(unsigned offset) const;
  // The token that begins at `offset`; empty: none does.
  [[nodiscard]] std::string_view at(unsigned offset) const;
  // Tokens but comments that contain the end of a line.
  [[nodiscard]] std::vector<Range> over_lines() const;
  // Where the declaration at `offset` begins with the comment that stands before it.
  [[nodiscard]] unsigned with_comment(unsigned offset) const;

private:
  [[nodiscard]] std::string_view text(std::size_t index) const;
  [[nodiscard]] std::optional<std::size_t> find(unsigned offset) const;
  [[nodiscard]] Range with_space(unsigned begin, unsigned end) const;

  std::string_view text_;
  std::vector<Range> tokens_;   // in order; no comments
  std::vector<Range> comments_; // in order
};

} // namespace tandem::rewrite
