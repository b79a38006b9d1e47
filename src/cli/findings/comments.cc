// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/findings/comments.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

namespace tandem {
namespace {

constexpr std::string_view kBlank = " \t\f\v";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// The rules and the reason of a comment's text, if it is about findings.
std::optional<AllowComment> parse(std::string_view text) {
  text = trimmed(text);
  const auto skip = [&](std::string_view word) {
    if (!text.starts_with(word))
      return false;
    text = trimmed(text.substr(word.size()));
    return true;
  };
  if (!skip("tandem:") || !skip("allow") || !skip("("))
    return std::nullopt;
  const std::size_t close = text.find(')');
  if (close == std::string_view::npos)
    return std::nullopt;
  AllowComment comment;
  std::string_view list = text.substr(0, close);
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (const std::string_view rule = trimmed(list.substr(0, comma)); !rule.empty())
      comment.rules.emplace_back(rule);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  text = trimmed(text.substr(close + 1));
  if (text.starts_with(':'))
    comment.reason = trimmed(text.substr(1));
  return comment;
}

// Walks over the lines of a file and knows what is comment and what is literal.
class Scanner {
public:
  explicit Scanner(const std::vector<std::string> &lines) : lines_(lines) {}

  std::vector<AllowComment> run() {
    for (line_ = 0; line_ < lines_.size(); ++line_)
      scan(lines_[line_]);
    return std::move(found_);
  }

private:
  void scan(std::string_view text) {
    bool code = false; // there is some on this line
    for (std::size_t at = 0; at < text.size();) {
      const std::string_view rest = text.substr(at);
      if (in_comment_ || rest.starts_with("/*")) {
        const std::size_t begin = in_comment_ ? 0 : 2;
        const std::size_t end = rest.find("*/", begin);
        note(rest.substr(begin, end == std::string_view::npos ? end : end - begin));
        in_comment_ = end == std::string_view::npos;
        at = in_comment_ ? text.size() : at + end + 2;
      } else if (rest.starts_with("//")) {
        note(rest.substr(2));
        at = text.size();
      } else if (rest.front() == '"' || (rest.front() == '\'' && !separates(text, at))) {
        code = true;
        at += literal(rest);
      } else {
        code = code || kBlank.find(rest.front()) == std::string_view::npos;
        ++at;
      }
    }
    if (code)
      settle();
  }

  void note(std::string_view comment) {
    std::optional<AllowComment> parsed = parse(comment);
    if (!parsed)
      return;
    parsed->line = static_cast<std::uint32_t>(line_ + 1);
    found_.push_back(std::move(*parsed));
  }

  // The quote at `at` separates digits: 1'000.
  static bool separates(std::string_view text, std::size_t at) {
    return at > 0 && std::isxdigit(static_cast<unsigned char>(text[at - 1])) != 0;
  }

  // The length of the literal that `text` begins with; it ends with the line at the latest.
  static std::size_t literal(std::string_view text) {
    std::size_t at = 1;
    while (at < text.size() && text[at] != text.front())
      at += text[at] == '\\' ? 2 : 1;
    return std::min(at + 1, text.size());
  }

  // This line has code: its comments are about it, and so are those that had lines of their own.
  void settle() {
    for (std::size_t index = waiting_; index < found_.size(); ++index)
      found_[index].about = static_cast<std::uint32_t>(line_ + 1);
    waiting_ = found_.size();
  }

  const std::vector<std::string> &lines_;
  std::size_t line_ = 0; // from 0
  bool in_comment_ = false;
  std::size_t waiting_ = 0; // the first of found_ that is about no line yet
  std::vector<AllowComment> found_;
};

} // namespace

std::vector<AllowComment> allow_comments(const std::vector<std::string> &lines) {
  return Scanner(lines).run();
}

} // namespace tandem
