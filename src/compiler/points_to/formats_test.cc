// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/points_to/formats.h"

#include <gtest/gtest.h>

#include <string>

namespace tandem {
namespace {

// One letter for each argument: t a text, n a number, with its bytes where scanf stores them; "?"
// where nothing is known.
std::string described(const std::optional<std::vector<FormatConversion>> &found, bool sizes) {
  if (!found)
    return "?";
  std::string text;
  for (const FormatConversion &one : *found) {
    text += one.is_text ? 't' : 'n';
    if (sizes)
      text += one.size > 1000 ? std::string("*") : std::to_string(one.size);
  }
  return text;
}

TEST(Formats, OfPrintf) {
  const auto of = [](const char *format) { return described(printf_conversions(format), false); };
  EXPECT_EQ(of("none, 100%%"), "");
  EXPECT_EQ(of("%d %-5s %#lx %p %c"), "ntnnn");
  EXPECT_EQ(of("%*.*f %.3s %m %lld%%"), "nnntn");
  EXPECT_EQ(of("%1$s"), "?");
  EXPECT_EQ(of("%k"), "?");
  EXPECT_EQ(of("%"), "?");
}

TEST(Formats, OfScanf) {
  const auto of = [](const char *format) { return described(scanf_conversions(format), true); };
  EXPECT_EQ(of("%d,%hd,%hhu,%lx,%p"), "n4n2n1n8n8");
  EXPECT_EQ(of("%*d%f%lf%Lf"), "n4n8n16");
  EXPECT_EQ(of("%15s %s %[^]a-z] %[]x]%n"), "t16t*t*t*n4");
  EXPECT_EQ(of("%ms"), "?");
  EXPECT_EQ(of("%[abc"), "?");
}

} // namespace
} // namespace tandem
