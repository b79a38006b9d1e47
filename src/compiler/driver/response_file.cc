// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/response_file.h"

#include "base/file.h"

#include <cctype>

namespace tandem {
namespace {

// Files may name files; deeper than this is a cycle.
constexpr int kMaximumDepth = 32;
// Files that name files twice each would grow without end long before that.
constexpr std::size_t kMostWords = std::size_t{1} << 20;

bool is_space(char letter) { return std::isspace(static_cast<unsigned char>(letter)) != 0; }

Status expand_into(std::vector<std::string> &result, const std::vector<std::string> &words,
                   int depth) {
  for (const std::string &word : words) {
    if (word.size() < 2 || word[0] != '@') {
      result.push_back(word);
      continue;
    }
    if (depth == kMaximumDepth)
      return Error{fmt::format("{}: response files name each other without end; break the cycle",
                               word.substr(1))};
    const Result<std::string> text = read_file(word.substr(1));
    if (!text) {
      result.push_back(word);
      continue;
    }
    if (result.size() > kMostWords)
      return Error{fmt::format("{}: response files make more than {} words; leave some away",
                               word.substr(1), kMostWords)};
    if (Status expanded = expand_into(result, split_words(*text), depth + 1); !expanded)
      return expanded;
  }
  return Unit{};
}

} // namespace

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false; // a word has begun, if only with empty quotes
  char quote = '\0';   // the quote that is open
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (letter == '\\' && i + 1 < text.size()) {
      word += text[++i];
      inside = true;
    } else if (quote != '\0') {
      if (letter == quote)
        quote = '\0';
      else
        word += letter;
    } else if (letter == '"' || letter == '\'') {
      quote = letter;
      inside = true;
    } else if (is_space(letter)) {
      if (inside)
        words.push_back(std::move(word));
      word.clear();
      inside = false;
    } else {
      word += letter;
      inside = true;
    }
  }
  if (inside)
    words.push_back(std::move(word));
  return words;
}

std::string join_words(const std::vector<std::string> &words) {
  std::string text;
  for (const std::string &word : words) {
    text += '"';
    for (const char letter : word) {
      if (letter == '"' || letter == '\\')
        text += '\\';
      text += letter;
    }
    text += "\"\n";
  }
  return text;
}

Result<std::vector<std::string>> expand_response_files(const std::vector<std::string> &words) {
  std::vector<std::string> result;
  if (Status expanded = expand_into(result, words, 0); !expanded)
    return expanded.error();
  return result;
}

} // namespace tandem
