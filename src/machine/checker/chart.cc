// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/checker/chart.h"

#include <algorithm>

namespace tandem::machine::checker {

namespace {

constexpr std::size_t kLeft = 4;   // of the first lifeline
constexpr std::size_t kWidth = 22; // between lifelines

std::size_t middle(std::size_t column) { return kLeft + column * kWidth; }

} // namespace

Chart::Chart(std::vector<std::string> columns) : columns_(std::move(columns)) {
  std::string names;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    names.resize(middle(i) - std::min(middle(i), columns_[i].size() / 2), ' ');
    names += columns_[i];
  }
  line(names);
}

std::string Chart::lifelines() const {
  std::string text(middle(columns_.size() - 1) + 1, ' ');
  for (std::size_t i = 0; i < columns_.size(); ++i)
    text[middle(i)] = '|';
  return text;
}

void Chart::line(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  out_ += text + '\n';
}

void Chart::arrow(std::size_t from, std::size_t to, const std::string &label) {
  std::string text = lifelines();
  const std::size_t left = middle(std::min(from, to)) + 1;
  const std::size_t right = middle(std::max(from, to)) - 1;
  if (from == to)
    return note(to, "receives " + label + " from itself");
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(left),
            text.begin() + static_cast<std::ptrdiff_t>(right) + 1, '-');
  (to > from ? text[right] : text[left]) = to > from ? '>' : '<';
  const std::size_t space = right - left - 1;
  const std::string shown = ' ' + label.substr(0, space) + ' ';
  text.replace(left + 1 + (space - std::min(space, shown.size())) / 2,
               std::min(space, shown.size()), shown.substr(0, space));
  line(text);
}

void Chart::note(std::size_t column, const std::string &note) {
  std::string text = lifelines();
  text[middle(column)] = '*';
  const std::size_t begin = middle(column) + 2;
  if (text.size() < begin + note.size())
    text.resize(begin + note.size(), ' ');
  text.replace(begin, note.size(), note);
  line(text);
}

void Chart::text(const std::string &text) { line(text); }

} // namespace tandem::machine::checker
