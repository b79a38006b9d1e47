// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/clang_options.h"

#include <array>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tandem {
namespace {

// clang's own table, read with its kinds and visibilities as plain numbers.
enum Kind {
  Input,
  Unknown,
  Flag,
  Joined,
  Separate,
  CommaJoined,
  MultiArg,
  JoinedOrSeparate,
  JoinedAndSeparate,
  RemainingArgs,
  RemainingArgsJoined,
  Group
};
constexpr unsigned DefaultVis = 1, FlangOption = 2, CC1Option = 4, CC1AsOption = 4, FC1Option = 4,
                   CLOption = 8, DXCOption = 8;

struct ClangOption {
  std::string name;
  Kind kind;
  unsigned visibility;
  std::size_t words;
};

std::vector<ClangOption> clang_table() {
  std::vector<ClangOption> table;
#define OPTION(prefix, name, id, kind, group, alias, alias_arguments, flags, visibility, words,    \
               ...)                                                                                \
  table.push_back({name, kind, visibility, words});
#include "clang/Driver/Options.inc"
#undef OPTION
  return table;
}

TEST(ClangOptions, AgreeWithTheTableOfClang) {
  std::size_t options = 0;
  for (const ClangOption &option : clang_table()) {
    if ((option.visibility & DefaultVis) == 0 || option.name[0] != '-' || option.name == "--")
      continue;
    ++options;
    std::size_t words = 0;
    if (option.kind == Separate || option.kind == JoinedOrSeparate ||
        option.kind == JoinedAndSeparate)
      words = 1;
    else if (option.kind == MultiArg)
      words = option.words;
    EXPECT_EQ(words_taken(option.name), words) << option.name;
  }
  EXPECT_GT(options, 1500u);
}

TEST(ClangOptions, JoinedValuesTakeNothing) {
  for (const char *word :
       {"-Ifoo", "-ofoo", "-lfoo", "-DX=1", "-xc", "main.c", "-", "", "-std=c99"})
    EXPECT_EQ(words_taken(word), 0u) << word;
  EXPECT_EQ(words_taken("-Xarch_x86_64"), 1u);
  EXPECT_EQ(words_taken("--serialize-diagnostics"), 1u);
}

} // namespace
} // namespace tandem
