// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/common/table.h"

#include "base/check.h"

#include <algorithm>
#include <numeric>

namespace tandem {
namespace {

constexpr std::size_t kGap = 2; // columns between two columns

std::string padded(const std::string &text, std::size_t width, Column::Align align) {
  const std::size_t space = width - std::min(width, display_width(text));
  std::size_t before = 0;
  if (align == Column::Align::right)
    before = space;
  else if (align == Column::Align::centre)
    before = space / 2;
  return std::string(before, ' ') + text + std::string(space - before, ' ');
}

} // namespace

struct Table::Layout {
  std::vector<std::size_t> shown;  // indices of columns
  std::vector<std::size_t> hidden; // of those that found no room, the last one first
  std::vector<std::size_t> widths; // of each column, shown or not

  [[nodiscard]] std::size_t total() const {
    std::size_t sum = shown.empty() ? 0 : kGap * (shown.size() - 1);
    for (const std::size_t index : shown)
      sum += widths[index];
    return sum;
  }
};

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column &column : columns_)
    column.header = printable(column.header);
}

void Table::add(std::vector<TableCell> row) {
  CHECK(row.size() == columns_.size(), "{} cells for {} columns", row.size(), columns_.size());
  rows_.push_back(std::move(row));
}

Table::Layout Table::layout(const Terminal &terminal, std::size_t limit) const {
  Layout layout;
  layout.widths.resize(columns_.size());
  for (std::size_t index = 0; index < columns_.size(); ++index) {
    layout.widths[index] = display_width(columns_[index].header);
    bool empty = true;
    for (std::size_t row = 0; row < limit; ++row) {
      const std::size_t width = display_width(rows_[row][index].text);
      empty = empty && width == 0;
      layout.widths[index] = std::max(layout.widths[index], width);
    }
    if (!empty || !columns_[index].optional)
      layout.shown.push_back(index);
  }
  if (terminal.width == 0)
    return layout;
  const auto least = [&](std::size_t index) {
    const Column &column = columns_[index];
    const std::size_t most = layout.widths[index];
    return column.least == 0 ? most
                             : std::min(most, std::max(column.least, display_width(column.header)));
  };
  const auto least_total = [&] {
    std::size_t sum = kGap * (layout.shown.size() - 1);
    for (const std::size_t index : layout.shown)
      sum += least(index);
    return sum;
  };
  while (least_total() > terminal.width) {
    const auto last = std::find_if(layout.shown.rbegin(), layout.shown.rend(),
                                   [&](std::size_t index) { return columns_[index].optional; });
    if (last == layout.shown.rend())
      break;
    layout.hidden.push_back(*last);
    layout.shown.erase(std::next(last).base());
  }
  while (layout.total() > terminal.width) {
    const auto widest = std::max_element(
        layout.shown.begin(), layout.shown.end(), [&](std::size_t left, std::size_t right) {
          const auto give = [&](std::size_t index) {
            return layout.widths[index] > least(index) ? layout.widths[index] : 0;
          };
          return give(left) < give(right);
        });
    if (widest == layout.shown.end() || layout.widths[*widest] <= least(*widest))
      break;
    --layout.widths[*widest];
  }
  return layout;
}

std::string Table::text(const Terminal &terminal, std::size_t limit) const {
  limit = limit == 0 ? rows_.size() : std::min(limit, rows_.size());
  const Layout shape = layout(terminal, limit);
  std::string result;
  const auto line = [&](const auto &cell) {
    std::string blank; // goes out only before something that is not blank
    for (const std::size_t index : shape.shown) {
      const Column &column = columns_[index];
      const auto [text, colour] = cell(index);
      const std::string cut = shorten(text, shape.widths[index], column.cut);
      const std::string whole = padded(cut, shape.widths[index], column.align);
      if (const std::size_t begin = whole.find_first_not_of(' '); begin != std::string::npos) {
        const std::size_t end = whole.find_last_not_of(' ') + 1;
        result += blank + whole.substr(0, begin) +
                  terminal.paint(colour, std::string_view(whole).substr(begin, end - begin));
        blank = whole.substr(end);
      } else {
        blank += whole;
      }
      blank.append(kGap, ' ');
    }
    result += '\n';
  };
  line([&](std::size_t index) { return std::pair(columns_[index].header, Colour::bold); });
  for (std::size_t row = 0; row < limit; ++row)
    line([&](std::size_t index) {
      return std::pair(rows_[row][index].text, rows_[row][index].colour);
    });
  if (!shape.hidden.empty()) {
    std::string names;
    for (auto index = shape.hidden.rbegin(); index != shape.hidden.rend(); ++index)
      names += (names.empty() ? "" : ", ") + columns_[*index].header;
    result += wrap(fmt::format("{} hidden: {}; a wider terminal shows them",
                               counted(shape.hidden.size(), "column", "columns"), names),
                   terminal.width, 0) +
              '\n';
  }
  return result;
}

} // namespace tandem
