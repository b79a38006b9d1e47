// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/common/table.h"

#include <array>
#include <gmock/gmock.h>
#include <random>

namespace tandem {
namespace {

Table sample() {
  Table table({{.header = "NAME", .least = 6},
               {.header = "PLACE", .least = 7, .cut = Cut::start},
               {.header = "N", .align = Column::Align::right},
               {.header = "X", .align = Column::Align::centre},
               {.header = "NOTE", .optional = true}});
  table.add({"short", "a.c:1", "1", "X", ""});
  table.add({"a_longer_name", "folder/file.c:1234", "12345", "", "seen"});
  return table;
}

std::size_t widest_line(const std::string &text) {
  std::size_t widest = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    widest = std::max(widest, display_width(std::string_view(text).substr(begin, end - begin)));
    begin = end + 1;
  }
  return widest;
}

// The table's own lines: the header and `rows` more, without what is said of hidden columns.
std::string head(const std::string &text, std::size_t rows) {
  std::size_t end = 0;
  for (std::size_t line = 0; line <= rows && end < text.size(); ++line)
    end = text.find('\n', end) + 1;
  return text.substr(0, end);
}

TEST(Table, AlignsItsColumns) {
  EXPECT_EQ(sample().text({}), "NAME           PLACE                   N  X  NOTE\n"
                               "short          a.c:1                   1  X\n"
                               "a_longer_name  folder/file.c:1234  12345     seen\n");
}

TEST(Table, ShrinksTheWidestColumnsFirst) {
  EXPECT_EQ(sample().text({.width = 42}), "NAME          PLACE             N  X  NOTE\n"
                                          "short         a.c:1             1  X\n"
                                          "a_longer_na…  …file.c:1234  12345     seen\n");
}

TEST(Table, DropsOptionalColumnsThatDoNotFit) {
  const std::string text = sample().text({.width = 25});
  EXPECT_LE(widest_line(text), 25u);
  EXPECT_EQ(text, "NAME    PLACE        N  X\n"
                  "short   a.c:1        1  X\n"
                  "a_lon…  …c:1234  12345\n"
                  "1 column hidden: NOTE; a\n"
                  "wider terminal shows them\n");
}

TEST(Table, DropsOptionalColumnsThatAreEmpty) {
  EXPECT_EQ(sample().text({}, 1), "NAME   PLACE  N  X\n"
                                  "short  a.c:1  1  X\n");
}

TEST(Table, ANarrowTerminalGetsTheLeastWidths) {
  EXPECT_EQ(head(sample().text({.width = 3}), 2), head(sample().text({.width = 24}), 2));
}

TEST(Table, PaintsCellsWithoutTheirPadding) {
  Table table({{.header = "A"}, {.header = "B"}});
  table.add({TableCell("x", Colour::red), "y"});
  EXPECT_EQ(table.text({.interactive = true, .width = 80, .colour = true}),
            "\033[1mA\033[0m  \033[1mB\033[0m\n\033[31mx\033[0m  y\n");
}

TEST(Table, CellsCannotWriteToTheTerminal) {
  Table table({{.header = "A"}});
  table.add({"a\033[2Jb\n"});
  EXPECT_EQ(table.text({}), "A\na\\x1b[2Jb\\n\n");
}

// Whatever the widths: every line fits where the least widths do, and no row is lost.
TEST(Table, NeverExceedsTheTerminal) {
  constexpr std::uint64_t kSeed = 7;
  for (std::uint64_t round = 0; round < 300; ++round) {
    SCOPED_TRACE(kSeed + round);
    std::mt19937_64 random(kSeed + round);
    Table table({{.header = "ONE", .least = 5},
                 {.header = "TWO", .least = 4, .cut = Cut::start},
                 {.header = "THREE", .align = Column::Align::right, .optional = true},
                 {.header = "FOUR", .least = 6, .optional = true}});
    const std::size_t rows = 1 + random() % 5;
    std::array<bool, 4> filled{};
    for (std::size_t row = 0; row < rows; ++row) {
      std::vector<TableCell> cells;
      cells.reserve(4);
      for (std::size_t cell = 0; cell < 4; ++cell) {
        cells.emplace_back(std::string(random() % 20, 'x'));
        filled[cell] |= !cells.back().text.empty();
      }
      table.add(std::move(cells));
    }
    const std::size_t width = 11 + random() % 60; // 5 + 2 + 4 always fit
    const std::string text = table.text({.width = width});
    ASSERT_LE(widest_line(text), width) << text;
    const std::string shown = head(text, rows);
    ASSERT_EQ(std::count(shown.begin(), shown.end(), '\n'), rows + 1) << text;
    for (const std::size_t column : {2u, 3u}) // shown, named as hidden, or empty
      ASSERT_TRUE(!filled[column] || text.find(column == 2 ? "THREE" : "FOUR") != text.npos)
          << text;
  }
}

} // namespace
} // namespace tandem
