// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A table for people: a header, columns aligned, as wide as the terminal and no wider.
#pragma once

#include "cli/common/terminal.h"

#include <string>
#include <vector>

namespace tandem {

struct Column {
  enum class Align : std::uint8_t { left, right, centre };
  std::string header;
  Align align = Align::left;
  // Where the table is too wide its widest shrinkable column gives way, down to `least` columns or
  // its header; 0: this one never shrinks.
  std::size_t least = 0;
  Cut cut = Cut::end; // where cells that are too wide are cut
  // Left out, the last such column first, where shrinking is not enough (a line below the table
  // names them); and where all its cells are empty.
  bool optional = false;
};

struct TableCell {
  std::string text;
  Colour colour = Colour::plain;
  TableCell() = default;
  TableCell(const std::string &shown, Colour painted = Colour::plain)
      : text(printable(shown)), colour(painted) {}
  TableCell(const char *shown) : TableCell(std::string(shown)) {}
};

class Table {
public:
  explicit Table(std::vector<Column> columns);

  // A row has one cell for each column.
  void add(std::vector<TableCell> row);
  [[nodiscard]] std::size_t rows() const { return rows_.size(); }

  // The table as text, each line with a newline; its first `limit` rows (0: all).
  [[nodiscard]] std::string text(const Terminal &terminal, std::size_t limit = 0) const;

private:
  struct Layout; // which columns are shown, and how wide
  [[nodiscard]] Layout layout(const Terminal &terminal, std::size_t limit) const;

  std::vector<Column> columns_;
  std::vector<std::vector<TableCell>> rows_;
};

} // namespace tandem
