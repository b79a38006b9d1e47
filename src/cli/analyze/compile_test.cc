// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/compile.h"

#include <gmock/gmock.h>

namespace tandem {
namespace {

TEST(CompilerOf, GoesByTheSuffix) {
  for (const char *file : {"a.c", "dir.cc/b.c", "x.i"})
    EXPECT_EQ(*compiler_of(file), "tandem-cc") << file;
  for (const char *file : {"a.cc", "a.cpp", "a.cxx", "a.C", "a.c++", "a.cp", "a.ii", "d/a.x.cpp"})
    EXPECT_EQ(*compiler_of(file), "tandem-c++") << file;
}

TEST(CompilerOf, RefusesOtherFiles) {
  for (const char *file : {"a.o", "a", "c", ".c", "dir/.cpp", "a.h", ""})
    EXPECT_FALSE(compiler_of(file).ok()) << file;
  EXPECT_EQ(compiler_of("a.rs").error().message,
            "a.rs: neither C (.c) nor C++ (.cc, .cpp, .cxx, .C) nor a report (.json)");
}

TEST(IsReport, GoesByTheSuffix) {
  EXPECT_TRUE(is_report("a.json"));
  EXPECT_FALSE(is_report("json"));
  EXPECT_FALSE(is_report("a.json.c"));
}

} // namespace
} // namespace tandem
