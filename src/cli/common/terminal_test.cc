// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/common/terminal.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <pty.h>
#include <unistd.h>

namespace tandem {
namespace {

// A terminal `columns` wide; what is written to `stream` is dropped.
class Pty {
public:
  explicit Pty(unsigned short columns) {
    const winsize size{24, columns, 0, 0};
    int controller = 0;
    int terminal = 0;
    EXPECT_EQ(::openpty(&controller, &terminal, nullptr, nullptr, &size), 0);
    controller_ = controller;
    stream_ = ::fdopen(terminal, "w");
  }
  ~Pty() {
    std::fclose(stream_);
    ::close(controller_);
  }
  Pty(const Pty &) = delete;
  Pty &operator=(const Pty &) = delete;
  [[nodiscard]] std::FILE *stream() const { return stream_; }

private:
  int controller_ = -1;
  std::FILE *stream_ = nullptr;
};

class TerminalTest : public testing::Test {
protected:
  void SetUp() override {
    ::unsetenv("NO_COLOR");
    ::unsetenv("COLUMNS");
    ::setenv("TERM", "xterm", 1);
  }
};

TEST_F(TerminalTest, AFileIsPlainAndUnlimited) {
  std::FILE *file = std::tmpfile();
  const Terminal terminal = Terminal::of(file);
  std::fclose(file);
  EXPECT_FALSE(terminal.interactive);
  EXPECT_FALSE(terminal.colour);
  EXPECT_EQ(terminal.width, 0u);
  EXPECT_EQ(terminal.paint(Colour::red, "x"), "x");
}

TEST_F(TerminalTest, ATerminalTellsItsWidth) {
  const Pty pty(97);
  const Terminal terminal = Terminal::of(pty.stream());
  EXPECT_TRUE(terminal.interactive);
  EXPECT_TRUE(terminal.colour);
  EXPECT_EQ(terminal.width, 97u);
  EXPECT_EQ(terminal.paint(Colour::red, "x"), "\033[31mx\033[0m");
}

TEST_F(TerminalTest, ATerminalThatDoesNotTellUsesColumns) {
  const Pty pty(0);
  EXPECT_EQ(Terminal::of(pty.stream()).width, 80u);
  ::setenv("COLUMNS", "132", 1);
  EXPECT_EQ(Terminal::of(pty.stream()).width, 132u);
}

TEST_F(TerminalTest, NoColorAndDumbTerminalsAreHonoured) {
  const Pty pty(80);
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_FALSE(Terminal::of(pty.stream()).colour);
  ::setenv("NO_COLOR", "", 1);
  EXPECT_TRUE(Terminal::of(pty.stream()).colour);
  ::setenv("TERM", "dumb", 1);
  EXPECT_FALSE(Terminal::of(pty.stream()).colour);
}

TEST_F(TerminalTest, TheUsersChoiceWins) {
  const Pty pty(80);
  std::FILE *file = std::tmpfile();
  Terminal::choose(Colours::always, true);
  EXPECT_TRUE(Terminal::of(file).colour);
  EXPECT_FALSE(Terminal::of(file).interactive);
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_TRUE(Terminal::of(pty.stream()).colour);
  EXPECT_TRUE(Terminal::of(pty.stream()).interactive); // quiet is of standard error
  ::unsetenv("NO_COLOR");
  Terminal::choose(Colours::never, false);
  EXPECT_FALSE(Terminal::of(pty.stream()).colour);
  Terminal::choose(Colours::automatic, false);
  EXPECT_TRUE(Terminal::of(pty.stream()).colour);
  EXPECT_FALSE(Terminal::of(file).colour);
  std::fclose(file);
}

TEST(Shorten, CutsWhereItIsTold) {
  EXPECT_EQ(shorten("abcdef", 6), "abcdef");
  EXPECT_EQ(shorten("abcdef", 4), "abc…");
  EXPECT_EQ(shorten("src/items.c:74", 8, Cut::start), "…ms.c:74");
  EXPECT_EQ(shorten("ééééé", 3), "éé…");
  EXPECT_EQ(shorten("ééééé", 3, Cut::start), "…éé");
  EXPECT_EQ(shorten("item_crawler_thread_4", 9, Cut::middle), "item…ad_4");
  EXPECT_EQ(shorten("éàabcdüö", 4, Cut::middle), "éà…ö");
  EXPECT_EQ(shorten("abcdef", 0), "abcdef");
  EXPECT_EQ(shorten("abcdef", 1), "…");
}

TEST(Wrap, FillsLines) {
  EXPECT_EQ(wrap("aa bb cc", 5, 0), "aa bb\ncc");
  EXPECT_EQ(wrap("aaaa bb cc", 7, 4), "aaaa bb\n    cc");
  EXPECT_EQ(wrap("a  b", 0, 2), "a b");
  EXPECT_EQ(wrap("a longerword b", 4, 0), "a\nlongerword\nb");
  EXPECT_EQ(wrap("", 10, 0), "");
}

TEST(Thousands, AreSeparated) {
  EXPECT_EQ(thousands(0), "0");
  EXPECT_EQ(thousands(999), "999");
  EXPECT_EQ(thousands(1000), "1,000");
  EXPECT_EQ(thousands(18446744073709551615u), "18,446,744,073,709,551,615");
  EXPECT_EQ(counted(1, "section", "sections"), "1 section");
  EXPECT_EQ(counted(0, "section", "sections"), "0 sections");
}

} // namespace
} // namespace tandem
