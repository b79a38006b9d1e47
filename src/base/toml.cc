// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/toml.h"

#include "base/file.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace tandem {
namespace {

// One line, its first letter small, without a full stop.
std::string as_message(std::string_view text) {
  std::string line;
  for (const char letter : text)
    line += letter == '\n' || letter == '\r' ? ' ' : letter;
  while (!line.empty() && (line.back() == '.' || line.back() == ' '))
    line.pop_back();
  if (line.size() > 1 && std::islower(static_cast<unsigned char>(line[1])) != 0)
    line[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(line[0])));
  return line;
}

Error not_toml(const std::string &place, std::size_t line, std::size_t column,
               std::string_view what) {
  return Error{fmt::format("{}:{}:{}: not TOML: {}", place, line, column, what)};
}

// Looks for what would be too deep, as a reader of tokens: strings and comments are passed over,
// whatever else the text does wrong is left to the library. A string that is not ended ends with
// its line, as the library's first mistake.
class Depths {
public:
  explicit Depths(std::string_view text) : text_(text) {}

  // What is too deep, with at() behind it; nothing: the text may be parsed.
  std::optional<std::string> check() {
    while (at_ < text_.size())
      if (std::optional<std::string> mistake = token(text_[at_]); mistake)
        return mistake;
    return std::nullopt;
  }
  [[nodiscard]] std::size_t at() const { return at_; }

private:
  std::optional<std::string> token(char byte) {
    switch (byte) {
    case '#':
      at_ = std::min(text_.find('\n', at_), text_.size());
      return std::nullopt;
    case '"':
    case '\'':
      string(byte);
      return std::nullopt;
    case '[':
      if (starts_line())
        if (const std::size_t name = header_name(); name != 0) {
          at_ += name + 1;
          return fmt::format("a table's name cannot begin with '{}'", text_[at_ - 1]);
        }
      [[fallthrough]];
    case '{':
      ++depth_;
      parts_ = 0;
      break;
    case ']':
    case '}':
      depth_ -= depth_ == 0 ? 0 : 1;
      parts_ = 0;
      break;
    case '.':
      ++parts_;
      break;
    case '\n':
    case '=':
    case ',':
      parts_ = 0;
      break;
    default:
      break;
    }
    ++at_;
    if (depth_ > kMostTomlDepth)
      return fmt::format("nested more than {} deep", kMostTomlDepth);
    if (parts_ >= kMostTomlDepth)
      return fmt::format("a key of more than {} parts", kMostTomlDepth);
    return std::nullopt;
  }

  // Whether nothing but blanks is before this on its line, outside of all brackets.
  [[nodiscard]] bool starts_line() const {
    const std::size_t before = text_.substr(0, at_).find_last_not_of(" \t");
    return depth_ == 0 && (before == std::string_view::npos || text_[before] == '\n');
  }

  // How far after this the name of a table's header is, if it begins with what begins no name (for
  // which toml++ has an assertion); 0: all is well, or for the library to say.
  [[nodiscard]] std::size_t header_name() const {
    std::size_t name = text_.find_first_not_of('[', at_);
    name = text_.find_first_not_of(" \t", std::min(name, text_.size()));
    if (name == std::string_view::npos)
      return 0;
    const auto byte = static_cast<unsigned char>(text_[name]);
    const bool printed = byte > 0x20 && byte < 0x7f;
    const bool begins = std::isalnum(byte) != 0 ||
                        std::string_view("_-\"']#").find(text_[name]) != std::string_view::npos;
    return printed && !begins ? name - at_ : 0;
  }

  void string(char quote) {
    const std::string triple(3, quote);
    const bool long_one = text_.substr(at_, 3) == triple;
    at_ += long_one ? 3 : 1;
    while (at_ < text_.size()) {
      if (quote == '"' && text_[at_] == '\\') {
        at_ = std::min(at_ + 2, text_.size());
      } else if (long_one ? text_.substr(at_, 3) == triple
                          : text_[at_] == quote || text_[at_] == '\n') {
        at_ += long_one ? 3 : text_[at_] == quote ? 1 : 0;
        return;
      } else {
        ++at_;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t parts_ = 0;
};

} // namespace

void toml_assertion_failed(const char *expression) { throw TomlAssertion{expression}; }

Result<toml::table> parse_toml(std::string_view text, const std::string &place) {
  if (text.size() > kMostTomlBytes)
    return Error{fmt::format("{}: has more than {} bytes, the most that a TOML file may have here",
                             place, kMostTomlBytes)};
  Depths depths(text);
  if (const std::optional<std::string> mistake = depths.check(); mistake) {
    const std::string_view before = text.substr(0, depths.at() - 1);
    const std::size_t newline = before.rfind('\n');
    return not_toml(place, 1 + std::count(before.begin(), before.end(), '\n'),
                    before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1,
                    *mistake);
  }
  try {
    return toml::parse(text);
  } catch (const toml::parse_error &error) {
    return not_toml(place, error.source().begin.line, error.source().begin.column,
                    as_message(error.description()));
  } catch (const TomlAssertion &) {
    return Error{
        fmt::format("{}: not TOML: a name, a value or a bracket is not where it may be", place)};
  }
}

Result<toml::table> read_toml(const std::string &path) {
  const Result<std::string> text = read_file(path, kMostTomlBytes);
  if (!text)
    return text.error();
  return parse_toml(*text, path);
}

} // namespace tandem
