// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/rewrite/tokens.h"

#include "clang/Lex/Lexer.h"

#include <algorithm>

namespace tandem::rewrite {
namespace {

constexpr std::string_view kSpace = " \t";
constexpr std::string_view kAllSpace = " \t\r\n";

} // namespace

Tokens::Tokens(const clang::SourceManager &sources, clang::FileID file,
               const clang::LangOptions &language) {
  const llvm::StringRef buffer = sources.getBufferData(file);
  text_ = std::string_view(buffer.data(), buffer.size());
  clang::Lexer lexer(file, sources.getBufferOrFake(file), sources, language);
  lexer.SetCommentRetentionState(true);
  clang::Token token;
  for (bool last = false; !last;) {
    last = lexer.LexFromRawLexer(token);
    if (token.is(clang::tok::eof))
      break;
    const unsigned begin = sources.getFileOffset(token.getLocation());
    (token.is(clang::tok::comment) ? comments_ : tokens_)
        .push_back({begin, begin + token.getLength()});
  }
}

std::string_view Tokens::text(std::size_t index) const {
  return index < tokens_.size()
             ? text_.substr(tokens_[index].begin, tokens_[index].end - tokens_[index].begin)
             : std::string_view();
}

std::optional<std::size_t> Tokens::find(unsigned offset) const {
  const auto found =
      std::lower_bound(tokens_.begin(), tokens_.end(), offset,
                       [](const Range &token, unsigned value) { return token.begin < value; });
  if (found == tokens_.end() || found->begin != offset)
    return std::nullopt;
  return static_cast<std::size_t>(found - tokens_.begin());
}

std::string_view Tokens::at(unsigned offset) const {
  const auto index = find(offset);
  return index ? text(*index) : std::string_view();
}

// Before what ends a declaration the space in front goes, else the space behind.
Range Tokens::with_space(unsigned begin, unsigned end) const {
  const std::size_t next = std::min(text_.find_first_not_of(kAllSpace, end), text_.size());
  if (next == text_.size() ||
      std::string_view(";{),=").find(text_[next]) != std::string_view::npos) {
    while (begin > 0 && kSpace.find(text_[begin - 1]) != std::string_view::npos)
      --begin;
    return {begin, end};
  }
  return {begin, static_cast<unsigned>(next)};
}

Range Tokens::word(unsigned begin, unsigned end) const { return with_space(begin, end); }

std::optional<Range> Tokens::attribute(unsigned offset) const {
  const auto found = find(offset);
  if (!found)
    return std::nullopt;
  const std::size_t name = *found;
  const auto is = [&](std::size_t index, std::string_view what) { return text(index) == what; };
  if (name < 3)
    return std::nullopt;
  const std::string_view keyword = text(name - 3);
  const bool gnu = (keyword == "__attribute__" || keyword == "__attribute") && is(name - 1, "(");
  if (gnu && is(name + 1, ")") && is(name + 2, ")"))
    return with_space(tokens_[name - 3].begin, tokens_[name + 2].end);
  // [[tandem::atomic]]
  if (name >= 4 && is(name - 3, "[") && is(name - 4, "[") && is(name + 1, "]") &&
      is(name + 2, "]") && is(name - 1, "::"))
    return with_space(tokens_[name - 4].begin, tokens_[name + 2].end);
  // One colon a token where `::` is none of the language.
  if (name >= 5 && is(name - 4, "[") && is(name - 5, "[") && is(name - 1, ":") &&
      is(name - 2, ":") && is(name + 1, "]") && is(name + 2, "]"))
    return with_space(tokens_[name - 5].begin, tokens_[name + 2].end);
  if (is(name + 1, ",")) // in a list: up to the next attribute
    return Range{tokens_[name].begin, tokens_[name + 2].begin};
  if (is(name - 1, ",") && is(name + 1, ")"))
    return Range{tokens_[name - 1].begin, tokens_[name].end};
  return std::nullopt;
}

std::optional<unsigned> Tokens::past_semicolon(unsigned offset) const {
  for (auto token =
           std::lower_bound(tokens_.begin(), tokens_.end(), offset,
                            [](const Range &one, unsigned value) { return one.begin < value; });
       token != tokens_.end(); ++token)
    if (text_[token->begin] == ';')
      return token->end;
  return std::nullopt;
}

std::vector<Range> Tokens::over_lines() const {
  std::vector<Range> ranges;
  for (const Range &token : tokens_)
    if (text_.substr(token.begin, token.end - token.begin).find('\n') != std::string_view::npos)
      ranges.push_back(token);
  return ranges;
}

unsigned Tokens::with_comment(unsigned offset) const {
  const auto line_begin = [&](unsigned at) {
    const std::size_t newline = at == 0 ? std::string_view::npos : text_.rfind('\n', at - 1);
    return newline == std::string_view::npos ? 0U : static_cast<unsigned>(newline + 1);
  };
  unsigned begin = line_begin(offset);
  for (auto comment = comments_.rbegin(); comment != comments_.rend(); ++comment) {
    if (comment->begin >= begin)
      continue;
    const unsigned first = line_begin(comment->begin);
    const std::string_view before = text_.substr(first, comment->begin - first);
    const std::string_view after = text_.substr(comment->end, begin - comment->end);
    const bool blank_line = std::count(after.begin(), after.end(), '\n') > 1;
    if (blank_line || before.find_first_not_of(kSpace) != std::string_view::npos ||
        after.find_first_not_of(kAllSpace) != std::string_view::npos)
      break;
    begin = first;
  }
  return begin;
}

} // namespace tandem::rewrite
