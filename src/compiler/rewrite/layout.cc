// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/rewrite/layout.h"

#include "base/check.h"

#include <algorithm>

namespace tandem::rewrite {
namespace {

bool in_string(const std::vector<Range> &strings, unsigned offset) {
  return std::any_of(strings.begin(), strings.end(), [&](const Range &string) {
    return string.begin < offset && offset < string.end;
  });
}

void copy(const Source &source, Range range, const std::string &extra, std::string &out) {
  for (unsigned at = range.begin; at < range.end; ++at) {
    out += source.text[at];
    if (source.text[at] == '\n' && at + 1 < source.text.size() && source.text[at + 1] != '\n' &&
        source.text[at + 1] != '\r' && !extra.empty() && !in_string(source.strings, at))
      out += extra;
  }
}

} // namespace

std::string indentation_at(const std::string &text, unsigned offset) {
  const std::size_t newline = offset == 0 ? std::string::npos : text.rfind('\n', offset - 1);
  const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
  return text.substr(begin, text.find_first_not_of(" \t", begin) - begin);
}

std::string replace_pieces(const Source &source, Range range, const std::vector<Piece> &pieces,
                           const std::string &extra) {
  std::vector<std::pair<unsigned, std::size_t>> order; // of insertions at one place: as given
  for (std::size_t index = 0; index < pieces.size(); ++index)
    order.emplace_back(pieces[index].range.begin, index);
  std::sort(order.begin(), order.end());
  std::string out;
  unsigned at = range.begin;
  for (const auto &[begin, index] : order) {
    const Piece &piece = pieces[index];
    CHECK(piece.range.begin >= at && piece.range.end <= range.end, "{}: pieces overlap at byte {}",
          source.path, piece.range.begin);
    copy(source, {at, piece.range.begin}, extra, out);
    out += piece.text;
    at = piece.range.end;
  }
  copy(source, {at, range.end}, extra, out);
  return out;
}

std::string as_lines(std::string_view inner, const std::string &first_indent) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t last = inner.find_last_not_of(kSpace);
  if (last == std::string_view::npos)
    return "";
  inner = inner.substr(0, last + 1);
  const std::size_t first = inner.find_first_not_of(kSpace);
  const std::size_t newline = inner.substr(0, first).rfind('\n');
  if (newline == std::string_view::npos)
    return first_indent + std::string(inner.substr(first)) + "\n";
  return std::string(inner.substr(newline + 1)) + "\n";
}

} // namespace tandem::rewrite
