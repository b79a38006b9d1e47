// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/command_line.h"

#include "compiler/driver/response_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem {
namespace {

using testing::ElementsAre;

CommandLine parsed(const std::string &text) { return parse_command_line(split_words(text)); }

std::vector<std::string> inputs(const CommandLine &line) {
  std::vector<std::string> paths;
  for (const Input &input : line.inputs)
    paths.push_back(input.path);
  return paths;
}

TEST(CommandLine, WhereClangStops) {
  EXPECT_EQ(parsed("a.c").stop, Stop::link);
  EXPECT_EQ(parsed("-c a.c").stop, Stop::object);
  EXPECT_EQ(parsed("-S a.c").stop, Stop::assembly);
  EXPECT_EQ(parsed("-c -S a.c").stop, Stop::assembly);
  EXPECT_EQ(parsed("-S -c -fsyntax-only a.c").stop, Stop::syntax);
  EXPECT_EQ(parsed("-c -E a.c").stop, Stop::preprocess);
  EXPECT_EQ(parsed("-MM a.c").stop, Stop::preprocess);
  EXPECT_EQ(parsed("-M a.c").stop, Stop::preprocess);
  EXPECT_EQ(parsed("-MD -MF a.d -c a.c").stop, Stop::object);
  EXPECT_EQ(parsed("--compile a.c").stop, Stop::object);
  EXPECT_EQ(parsed("-o -c a.c").stop, Stop::link) << "-c is the value of -o";
  EXPECT_EQ(parsed("-DX -include -S a.c").stop, Stop::link);
}

TEST(CommandLine, WhatLinks) {
  EXPECT_TRUE(parsed("a.o").links());
  EXPECT_TRUE(parsed("-lm").links());
  EXPECT_TRUE(parsed("-Wl,--version").links());
  EXPECT_FALSE(parsed("-c a.c").links());
  EXPECT_FALSE(parsed("-v").links());
  EXPECT_FALSE(parsed("-print-file-name=libc.a").links());
  EXPECT_FALSE(parsed("--print-prog-name ld").links());
  EXPECT_FALSE(parsed("-dumpversion").links());
  EXPECT_FALSE(parsed("").links());
  EXPECT_FALSE(parsed("a.h b.hpp").links()) << "they are precompiled";
  for (const char *language : {"c++-header", "c-header-cpp-output", "c++-header-cpp-output"})
    EXPECT_FALSE(parsed(fmt::format("-x {} a.c", language)).links()) << language;
  EXPECT_TRUE(parsed("a.h a.c").links());
  EXPECT_TRUE(parsed("-x c a.h").links()) << "a program of that language";
}

TEST(CommandLine, InputsByNameAndByLanguage) {
  const CommandLine line =
      parsed("a.c b.cc c.s d.S e.o f.a g.ll h -x c i -x none j.o -x assembler k");
  ASSERT_EQ(line.inputs.size(), 11u);
  std::vector<InputKind> kinds;
  for (const Input &input : line.inputs)
    kinds.push_back(input.kind);
  using enum InputKind;
  EXPECT_THAT(kinds, ElementsAre(c_family, c_family, assembler, assembler, object, object, ir,
                                 object, c_family, object, assembler));
  EXPECT_EQ(parsed("-xc++ -").inputs[0].kind, InputKind::c_family);
  EXPECT_EQ(parsed("-E -").inputs[0].path, "-");
  EXPECT_EQ(parsed("dir.c/file").inputs[0].kind, InputKind::object);
  EXPECT_EQ(parsed("-xassembler-with-cpp x.c").inputs[0].kind, InputKind::assembler);
  EXPECT_EQ(parsed("-x cuda x.c").inputs[0].kind, InputKind::other_source);
  EXPECT_EQ(parsed("x.hh").inputs[0].kind, InputKind::header);
}

TEST(CommandLine, ValuesAreNotInputs) {
  const CommandLine line = parsed("-I inc -D X -include pre.h -isystem sys -MF dep.d -Xclang -load "
                                  "-mllvm -x -T script -u sym -z now -target x86_64-linux-gnu a.c");
  EXPECT_THAT(inputs(line), ElementsAre("a.c"));
  EXPECT_EQ(line.inputs[0].kind, InputKind::c_family) << "the -x was the value of -mllvm";
}

TEST(CommandLine, TheTargetInItsForms) {
  EXPECT_TRUE(parsed("--target=riscv64-linux-gnu a.c").for_harts);
  EXPECT_TRUE(parsed("-target riscv64-unknown-linux-gnu a.c").for_harts);
  EXPECT_FALSE(parsed("--target=x86_64-linux-gnu a.c").for_harts);
  EXPECT_FALSE(parsed("--target=riscv64 --target=x86_64-linux-gnu a.c").for_harts) << "the last";
  EXPECT_FALSE(parsed("a.c").for_harts);
}

TEST(CommandLine, TheOutputInItsForms) {
  EXPECT_EQ(parsed("-o out a.c").output, "out");
  EXPECT_EQ(parsed("-oout a.c").output, "out");
  EXPECT_EQ(parsed("--output=out a.c").output, "out");
  EXPECT_EQ(parsed("-o one -o two a.c").output, "two");
  EXPECT_EQ(parsed("a.c").output, "");
  EXPECT_EQ(parsed("a.c -o").output, "") << "clang will say what is missing";
}

TEST(CommandLine, AfterTwoDashesEverythingIsAnInput) {
  const CommandLine line = parsed("-c -- -ftandem-enforce=none -x a.c");
  EXPECT_THAT(inputs(line), ElementsAre("-ftandem-enforce=none", "-x", "a.c"));
  EXPECT_EQ(line.options_end, 1u);
  EXPECT_TRUE(line.own_options.empty());
  EXPECT_THAT(line.words, ElementsAre("-c", "--", "-ftandem-enforce=none", "-x", "a.c"));
  EXPECT_EQ(parsed("-c a.c").options_end, 2u);
}

TEST(CommandLine, OwnOptionsAreTakenOut) {
  const CommandLine line = parsed("-ftandem-enforce=stm -c a.c -ftandem-what -Xclang -ftandem-x");
  EXPECT_THAT(line.own_options, ElementsAre("-ftandem-enforce=stm", "-ftandem-what"));
  EXPECT_THAT(line.words, ElementsAre("-c", "a.c", "-Xclang", "-ftandem-x"));
}

TEST(CommandLine, LinkTimeOptimisation) {
  EXPECT_EQ(parsed("a.c").lto, Lto::unsaid);
  EXPECT_EQ(parsed("-flto a.c").lto, Lto::full);
  EXPECT_EQ(parsed("-flto=auto a.c").lto, Lto::full);
  EXPECT_EQ(parsed("-flto=thin a.c").lto, Lto::thin);
  EXPECT_EQ(parsed("-flto=thin -flto=full a.c").lto, Lto::full);
  EXPECT_EQ(parsed("-flto=thin -fno-lto a.c").lto, Lto::off);
  EXPECT_TRUE(parsed("-ffat-lto-objects a.c").fat_objects);
  EXPECT_FALSE(parsed("-ffat-lto-objects -fno-fat-lto-objects a.c").fat_objects);
}

TEST(CommandLine, OptimisationIsWhatTheLastOptionSays) {
  EXPECT_FALSE(parsed("a.c").optimises);
  EXPECT_TRUE(parsed("-O a.c").optimises);
  EXPECT_TRUE(parsed("-O0 -Os a.c").optimises);
  EXPECT_FALSE(parsed("-O2 -O0 a.c").optimises);
}

TEST(CommandLine, DebugInformation) {
  for (const char *option : {"-g", "-g0", "-g3", "-ggdb3", "-gdwarf-4", "-gline-tables-only"})
    EXPECT_TRUE(parsed(std::string(option) + " a.c").chooses_debug) << option;
  for (const char *option : {"-gz", "-gsplit-dwarf", "-gno-column-info", "-fno-gnu-keywords"})
    EXPECT_FALSE(parsed(std::string(option) + " a.c").chooses_debug) << option;
}

TEST(CommandLine, Instrumentation) {
  for (const char *option : {"-fsanitize=address", "-fprofile-arcs", "-ftest-coverage",
                             "--coverage", "-fcoverage-mapping", "-fprofile-instr-generate", "-pg",
                             "-fxray-instrument", "-finstrument-functions", "-fprofile-use=x"})
    EXPECT_TRUE(parsed(std::string(option) + " a.c").instruments) << option;
  for (const char *option : {"-fno-sanitize=all", "-fprofile", "-fstack-protector-strong", "-p"})
    EXPECT_FALSE(parsed(std::string(option) + " a.c").instruments) << option;
}

TEST(CommandLine, TheLink) {
  EXPECT_TRUE(parsed("-shared a.o").shared);
  EXPECT_TRUE(parsed("-Wl,-soname,x,-shared a.o").shared);
  EXPECT_TRUE(parsed("-static a.o").is_static);
  EXPECT_TRUE(parsed("-static-pie a.o").is_static);
  EXPECT_FALSE(parsed("-static-libgcc a.o").is_static);
  EXPECT_TRUE(parsed("-r a.o").relocatable);
  EXPECT_TRUE(parsed("-Wl,-r a.o").relocatable);
  EXPECT_TRUE(parsed("-Xlinker --relocatable a.o").relocatable);
  EXPECT_FALSE(parsed("-rdynamic -rpath /x a.o").relocatable);
  EXPECT_EQ(parsed("-fuse-ld=gold a.o").linker, "gold");
  EXPECT_EQ(parsed("--ld-path=/x/ld a.o").linker_path, "/x/ld");
  const CommandLine line = parsed("-Lone -L two -lthree -l four -Wl,five,-six -Xlinker seven a.o");
  EXPECT_THAT(line.search.folders, ElementsAre("one", "two"));
  EXPECT_THAT(line.search.names, ElementsAre("three", "four"));
  EXPECT_THAT(line.linker_words, ElementsAre("five", "-six", "seven"));
  EXPECT_THAT(inputs(line), ElementsAre("a.o"));
}

TEST(CommandLine, Questions) {
  EXPECT_TRUE(parsed("--help").help);
  EXPECT_TRUE(parsed("--version").version);
  EXPECT_TRUE(parsed("-### a.c").dry_run);
  EXPECT_TRUE(parsed("-cc1 -triple x").cc1);
  EXPECT_FALSE(parsed("a.c -cc1").cc1);
}

} // namespace
} // namespace tandem
