// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/plan.h"

#include "compiler/driver/link.h"
#include "compiler/driver/response_file.h"

#include <filesystem>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace tandem {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kBin = "/usr/lib/llvm-19/bin/";
const std::string kStart = "--start-no-unused-arguments";
const std::string kEnd = "--end-no-unused-arguments";
const std::string kPlugin = "-fplugin=/t/lib/tandem/TandemAttributes.so";
const std::string kPass = "-Wl,--load-pass-plugin=/t/lib/tandem/TandemPass.so";
const std::string kEngine = "-Wl,--push-state,--as-needed,/t/lib/libtandem_tm.so,--pop-state";
const std::string kLdPath = "--ld-path=/usr/lib/llvm-19/bin/ld.lld";

class PlanTest : public testing::Test {
protected:
  Result<Plan> plan(const std::string &words) {
    const auto present = present_;
    const auto bitcode = bitcode_;
    return make_plan(
        {tool_, split_words(words), environment_, installation_of("/t/bin/tandem-cc"),
         FileView{[present](const std::string &path) { return present.contains(path); },
                  [bitcode](const std::string &path) { return bitcode.contains(path); }},
         "/here"});
  }
  std::vector<std::string> arguments(const std::string &words) {
    const Result<Plan> planned = plan(words);
    EXPECT_TRUE(planned.ok()) << (planned.ok() ? "" : planned.error().message);
    return planned.ok() ? planned->arguments : std::vector<std::string>{};
  }
  std::string mistake(const std::string &words) {
    const Result<Plan> planned = plan(words);
    return planned.ok() ? "no mistake" : planned.error().message;
  }
  std::set<std::string> checked(const std::string &words, Check::Kind kind) {
    std::set<std::string> paths;
    const Result<Plan> planned = plan(words);
    EXPECT_TRUE(planned.ok()) << (planned.ok() ? "" : planned.error().message);
    for (const Check &check : planned.ok() ? planned->checks : std::vector<Check>{})
      if (check.kind == kind)
        paths.insert(check.path);
    return paths;
  }

  Tool tool_ = Tool::cc;
  Environment environment_;
  std::set<std::string> present_ = {kBin + "clang",        kBin + "clang++",     kBin + "ld.lld",
                                    kBin + "llvm-ar",      kBin + "llvm-ranlib", kBin + "llvm-nm",
                                    "/t/lib/libtandem.so", "/t/lib/libtandem.a"};
  std::set<std::string> bitcode_;
};

TEST_F(PlanTest, ToolsByTheirNames) {
  EXPECT_EQ(tool_of("tandem-cc"), Tool::cc);
  EXPECT_EQ(tool_of("/x/tandem-c++"), Tool::cxx);
  EXPECT_EQ(tool_of("/x/y/tandem-ar"), Tool::ar);
  EXPECT_EQ(tool_of("tandem-ranlib"), Tool::ranlib);
  EXPECT_EQ(tool_of("tandem-nm"), Tool::nm);
  EXPECT_EQ(tool_of("/x/tandem-llvm-ar"), Tool::ar);
  EXPECT_EQ(tool_of("tandem-llvm-ranlib"), Tool::ranlib);
  EXPECT_EQ(tool_of("g++"), Tool::cxx);
  EXPECT_EQ(tool_of("cc"), Tool::cc);
  EXPECT_EQ(tool_of("x86_64-linux-gnu-tandem-bar"), Tool::cc);
  EXPECT_EQ(tool_of(""), Tool::cc);
}

TEST_F(PlanTest, ProgramsForHartsAreStaticAndHaveTheirOwnRuntime) {
  const std::string folder = "/t/lib/tandem/riscv64";
  for (const char *target : {"--target=riscv64-linux-gnu a.o", "-target riscv64-linux-gnu a.o"}) {
    const std::vector<std::string> all = arguments(target);
    EXPECT_THAT(all, Contains("-static"));
    EXPECT_THAT(all, Contains(folder + "/libtandem.a"));
    EXPECT_THAT(all, Contains("-Wl," + folder + "/anchor.o"));
    EXPECT_THAT(all, Not(Contains(kEngine)));
    EXPECT_THAT(all, Not(Contains("-ltandem")));
    EXPECT_THAT(all, Not(Contains("-Wl,/t/lib/tandem/anchor.o")));
    EXPECT_THAT(checked(target, Check::Kind::present),
                testing::IsSupersetOf({folder + "/libtandem.a", folder + "/anchor.o"}));
  }
  // Of C++, what libtandem.a and libstdc++.a refer to weakly.
  const std::string weak = "-Wl,-u,__cxa_tm_cleanup";
  EXPECT_THAT(arguments("--target=riscv64-linux-gnu a.o"), Not(Contains(weak)));
  tool_ = Tool::cxx;
  EXPECT_THAT(arguments("--target=riscv64-linux-gnu a.o"), Contains(weak));
  EXPECT_THAT(arguments("--target=riscv64-linux-gnu -c a.cc"), Not(Contains(weak)));
  tool_ = Tool::cc;
  EXPECT_THAT(arguments("--target=riscv64-linux-gnu -c a.c"), Not(Contains("-static")));
  EXPECT_THAT(mistake("--target=riscv64-linux-gnu -shared a.o"), HasSubstr("are static"));
  EXPECT_THAT(mistake("--target=riscv64-linux-gnu -ftandem-check-effects=1 a.o"),
              HasSubstr("no recorder"));
}

TEST_F(PlanTest, BinutilsKeepTheirArguments) {
  tool_ = Tool::ar;
  const Plan ar = plan("rcs lib.a -ftandem-enforce=what @list").value();
  EXPECT_EQ(ar.program, kBin + "llvm-ar");
  EXPECT_THAT(ar.arguments, ElementsAre("rcs", "lib.a", "-ftandem-enforce=what", "@list"));
  EXPECT_THAT(ar.checks, IsEmpty());
  tool_ = Tool::ranlib;
  EXPECT_EQ(plan("lib.a").value().program, kBin + "llvm-ranlib");
  tool_ = Tool::nm;
  EXPECT_EQ(plan("-g a.o").value().program, kBin + "llvm-nm");
}

TEST_F(PlanTest, ACompileStepThatAnalyses) {
  EXPECT_THAT(arguments("-O2 -c a.c"),
              ElementsAre(kStart, "-D__TANDEM__=1", "-idirafter", "/t/include", kPlugin,
                          "-flto=full", "-g", "-fdebug-default-version=4", "-Xclang",
                          "-disable-llvm-passes", kEnd, "-O2", "-c", "a.c"));
  tool_ = Tool::cxx;
  EXPECT_EQ(plan("-c a.cc").value().program, kBin + "clang++");
}

TEST_F(PlanTest, ACompileStepThatDoesNot) {
  environment_ = {{"TANDEM_ENFORCE", "none"}};
  EXPECT_THAT(arguments("-O2 -c a.c"),
              ElementsAre(kStart, "-D__TANDEM__=1", "-idirafter", "/t/include", kPlugin,
                          "-flto=full", "-D__TANDEM_OPTIMISED__=1", kEnd, "-O2", "-c", "a.c"));
  EXPECT_THAT(arguments("-O0 -c a.c"), Not(Contains("-D__TANDEM_OPTIMISED__=1")));
  environment_["TANDEM_REPORT"] = "r.json";
  EXPECT_THAT(arguments("-O2 -c a.c"), Contains("-disable-llvm-passes"));
}

TEST_F(PlanTest, TheUsersDebugAndOptimisationStand) {
  EXPECT_THAT(arguments("-O2 -g0 -c a.c"), Not(Contains("-g")));
  EXPECT_THAT(arguments("-O2 -g -c a.c"), Contains("-fdebug-default-version=4"));
  EXPECT_THAT(arguments("-O2 -gline-tables-only -c a.c"), Not(Contains("-g")));
  EXPECT_THAT(arguments("-c a.c"), Not(Contains("-disable-llvm-passes"))) << "-O0";
  EXPECT_THAT(arguments("-O2 -fsanitize=address -c a.c"), Not(Contains("-disable-llvm-passes")));
  EXPECT_THAT(arguments("-O2 -c a.c"), Not(Contains("-D__TANDEM_OPTIMISED__=1")));
}

TEST_F(PlanTest, InstrumentedCodeIsNotOptimisedBeforeTheLink) {
  for (const char *instruments : {"--coverage", "-pg", "-fsanitize=address"}) {
    const std::string words = fmt::format("-O2 {} -c a.c", instruments);
    EXPECT_THAT(arguments(words), Contains("-disable-O0-optnone"));
    EXPECT_THAT(arguments("-ftandem-enforce=none " + words), Not(Contains("-disable-O0-optnone")));
  }
  EXPECT_THAT(arguments("-O2 --coverage -c a.c"), Not(Contains("-D__TANDEM_OPTIMISED__=1")));
  EXPECT_THAT(arguments("-O2 -c a.c"), Not(Contains("-disable-O0-optnone")));
}

TEST_F(PlanTest, ThreadSanitizerWantsALockThatItSees) {
  for (const char *words : {"-fsanitize=thread -c a.c", "-fsanitize=thread a.o -o a",
                            "-fno-sanitize=thread -fsanitize=thread -c a.c"}) {
    EXPECT_THAT(mistake(words), HasSubstr("-ftandem-enforce=locks")) << words;
    EXPECT_EQ(mistake(fmt::format("-ftandem-enforce=global-lock {}", words)), "no mistake");
    EXPECT_EQ(mistake(fmt::format("-ftandem-enforce=locks {}", words)), "no mistake");
    EXPECT_EQ(mistake(fmt::format("-ftandem-enforce=none {}", words)), "no mistake");
  }
  EXPECT_EQ(mistake("-fsanitize=thread -fno-sanitize=thread -c a.c"), "no mistake");
  EXPECT_EQ(mistake("-fsanitize=address -c a.c"), "no mistake");
}

TEST_F(PlanTest, WhatIsNotBitcode) {
  EXPECT_THAT(arguments("-O2 -S a.c"),
              ElementsAre(kStart, "-D__TANDEM__=1", "-idirafter", "/t/include", kPlugin, kEnd,
                          "-O2", "-S", "a.c"));
  EXPECT_THAT(arguments("-E a.c"),
              ElementsAre(kStart, "-D__TANDEM__=1", "-idirafter", "/t/include", kEnd, "-E", "a.c"));
  EXPECT_THAT(arguments("-fsyntax-only a.c"), Not(Contains("-flto=full")));
  EXPECT_THAT(arguments("-c a.s"), ElementsAre("-c", "a.s"));
  EXPECT_THAT(arguments("-c a.S"), ElementsAre("-c", "a.S"));
  EXPECT_THAT(arguments("-O2 -emit-llvm -c a.c"), Not(Contains("-disable-llvm-passes")));
  EXPECT_THAT(arguments("-O2 -fno-lto -c a.c"), Not(Contains("-flto=full")));
  EXPECT_THAT(arguments("-nostdinc -c a.c"), Not(Contains("-idirafter")));
  EXPECT_THAT(arguments("-ffat-lto-objects -c -- a.c"), Contains("-fno-fat-lto-objects"));
}

TEST_F(PlanTest, QuestionsGoToClangAsTheyAre) {
  for (const char *words : {"-v", "-dumpversion", "-print-search-dirs", "-dumpmachine", "", "-V",
                            "-print-prog-name=ld", "-cc1 -E a.c", "-cc1as a.s"})
    EXPECT_EQ(arguments(words), split_words(words)) << words;
  EXPECT_THAT(plan("--help").value().prologue, HasSubstr("-ftandem-report=<pattern>"));
  EXPECT_EQ(plan("--version").value().arguments, split_words("--version"));
  EXPECT_THAT(plan("--version").value().epilogue, HasSubstr("tandem-cc "));
}

TEST_F(PlanTest, ALinkThatAnalyses) {
  environment_ = {{"TANDEM_ENFORCE", "global-lock"}};
  EXPECT_THAT(arguments("a.o -o prog"),
              ElementsAre(kStart, "-flto=full", "-fuse-ld=lld", kLdPath, kPass, kEnd, "a.o", "-o",
                          "prog", "-Wl,--push-state,--as-needed", "-L/t/lib", "-ltandem",
                          "-Wl,--pop-state", "-Wl,-rpath,/t/lib", "-Wl,/t/lib/tandem/anchor.o"));
  EXPECT_THAT(plan("a.o").value().checks,
              Contains(testing::Field(&Check::path, "/t/lib/tandem/TandemPass.so")));
}

TEST_F(PlanTest, LibrariesFollowTheEnforcement) {
  for (const Enforcement asked : {Enforcement::none, Enforcement::global_lock, Enforcement::locks,
                                  Enforcement::stm, Enforcement::hybrid, Enforcement::htm}) {
    environment_ = {{"TANDEM_ENFORCE", std::string(to_string(asked))}, {"TANDEM_REPORT", "r"}};
    const std::vector<std::string> words = arguments("a.o");
    const bool locks_only = asked == Enforcement::none || asked == Enforcement::global_lock;
    const auto count = [&](const char *word) {
      return std::count(words.begin(), words.end(), word);
    };
    EXPECT_EQ(count(kEngine.c_str()), locks_only ? 0 : 1) << to_string(asked);
    EXPECT_EQ(count("-ltandem"), asked == Enforcement::none ? 0 : 1) << to_string(asked);
    EXPECT_EQ(count(kPass.c_str()), 1) << to_string(asked);
  }
}

TEST_F(PlanTest, LibrariesAndProgramsForHardwareAreBoundWhenTheyAreLoaded) {
  for (const char *mode : {"locks", "stm", "hybrid", "htm"}) {
    environment_ = {{"TANDEM_ENFORCE", mode}};
    EXPECT_THAT(arguments("-shared a.o"), Contains("-Wl,-z,now")) << mode;
    const bool is_bound = std::string_view(mode) == "htm";
    const std::vector<std::string> words = arguments("a.o");
    EXPECT_EQ(std::count(words.begin(), words.end(), "-Wl,-z,now"), is_bound ? 1 : 0) << mode;
  }
}

TEST_F(PlanTest, ALinkThatDoesNotAnalyse) {
  const Plan planned = plan("-ftandem-enforce=none a.o -o prog").value();
  EXPECT_THAT(planned.arguments, ElementsAre(kStart, "-flto=full", "-fuse-ld=lld", kLdPath, kEnd,
                                             "a.o", "-o", "prog"));
  EXPECT_THAT(planned.set, IsEmpty());
}

TEST_F(PlanTest, CompilingAndLinkingAtOnce) {
  const std::vector<std::string> words = arguments("-O2 a.c b.o -o prog");
  for (const std::string &word : {std::string("-D__TANDEM__=1"), kPlugin,
                                  std::string("-disable-llvm-passes"), kLdPath, kPass})
    EXPECT_THAT(words, Contains(word));
}

TEST_F(PlanTest, LibrariesComeBeforeTheTwoDashes) {
  const std::vector<std::string> words = arguments("-o prog -- a.o");
  EXPECT_EQ(words[words.size() - 2], "--");
  EXPECT_EQ(words.back(), "a.o");
  EXPECT_THAT(words, Contains("-ltandem"));
}

TEST_F(PlanTest, UnusualLinks) {
  EXPECT_THAT(arguments("-static a.o"), Not(Contains("-Wl,-rpath,/t/lib")));
  EXPECT_THAT(arguments("-static a.o"), Contains("-ltandem"));
  present_.erase("/t/lib/libtandem.a");
  EXPECT_THAT(arguments("-static a.o"), Not(Contains("-ltandem")));
  EXPECT_THAT(arguments("-nostdlib -shared a.o"), Contains("-ltandem"));
  EXPECT_THAT(arguments("-m32 a.o"), Not(Contains(kEngine)));
  // Whatever brings GCC's libitm.so.1, ours comes first.
  for (const char *words : {"-litm a.o", "-L/gcc -l:libitm.so.1 a.o", "/gcc/libitm.so a.o"}) {
    const std::vector<std::string> all = arguments(words);
    EXPECT_LT(std::find(all.begin(), all.end(), kEngine), std::find(all.begin(), all.end(), kEnd));
  }
  EXPECT_THAT(arguments("-m32 a.o"), Not(Contains("-Wl,/t/lib/tandem/anchor.o")));
  EXPECT_THAT(arguments("-fno-lto a.c"), Not(Contains("-flto=full")));
}

TEST_F(PlanTest, OurLibrariesByNameAreThoseOfTheInstallation) {
  for (const char *name : {"-ltandem", "-l tandem_tm", "-Wl,-ltandem_locks"})
    for (const char *mode : {"none", "hybrid"}) {
      environment_ = {{"TANDEM_ENFORCE", mode}};
      const std::vector<std::string> words = arguments(fmt::format("-L/other {} a.o", name));
      const auto other = std::find(words.begin(), words.end(), "-L/other");
      EXPECT_LT(std::find(words.begin(), words.end(), "-L/t/lib/tandem/named"), other)
          << name << " " << mode;
      // What the user names of the other libraries there is his.
      EXPECT_EQ(std::find(words.begin(), other, "-L/t/lib"), other) << name << " " << mode;
      EXPECT_EQ(std::count(words.begin(), words.end(), "-Wl,-rpath,/t/lib"), 1) << mode;
    }
  const std::vector<std::string> words = arguments("-L/other -ltandemly a.o");
  EXPECT_THAT(words, Not(Contains("-L/t/lib/tandem/named")));
}

TEST_F(PlanTest, TheEnvironmentOfALink) {
  present_.insert({"lib/libone.a", "lib/libtwo.so", "lib/libtwo.a", "lib/exact.a"});
  environment_ = {{"TANDEM_POINTS_TO", "sensitive"}, {"TANDEM_CATALOGUE", "mine.toml"}};
  const Plan planned =
      plan("-ftandem-enforce=stm -ftandem-report=%o.json -shared -Llib a.c b.o c.a d.so e.so.1 "
           "-lone "
           "-ltwo -lthree -l:exact.a -Wl,--whole-archive,w.a,-rpath,/x -o out/x.so")
          .value();
  EXPECT_EQ(planned.set,
            (Environment{{"TANDEM_ENFORCE", "stm"},
                         {"TANDEM_REPORT", "%o.json"},
                         {"TANDEM_CATALOGUE", "/here/mine.toml"},
                         {"TANDEM_CONVERT", ""},
                         {"TANDEM_POINTS_TO", "sensitive"},
                         {"TANDEM_CHECK_EFFECTS", ""},
                         {"TANDEM_INLINE_BARRIERS", "1"},
                         {"TANDEM_SHORT_SECTIONS", "1"},
                         {"TANDEM_LINK_OUTPUT", "out/x.so"},
                         {"TANDEM_LINK_INPUTS", "b.o\nc.a\nw.a\nlib/libone.a\nlib/exact.a\n"},
                         {"TANDEM_LINK_SHARED", "1"},
                         {"TANDEM_VERBOSE", ""}}));
  present_.insert({"hidden.lo", "far/libfar.a", "near/libnear.a"});
  environment_["LIBRARY_PATH"] = "/nowhere::far";
  EXPECT_EQ(plan("-lfar -Wl,-Lnear,-lnear,@rest,hidden.lo,-soname,x.so.1 a.o")
                .value()
                .set.at("TANDEM_LINK_INPUTS"),
            "a.o\n?@rest\nhidden.lo\nfar/libfar.a\nnear/libnear.a\n");
  const Plan plain = plan("-ftandem-catalogue=papers a.o").value();
  EXPECT_EQ(plain.set.at("TANDEM_CATALOGUE"), "papers");
  EXPECT_EQ(plain.set.at("TANDEM_LINK_OUTPUT"), "a.out");
  EXPECT_EQ(plain.set.at("TANDEM_LINK_SHARED"), "");
  EXPECT_EQ(plain.set.at("TANDEM_ENFORCE"), "hybrid");
}

TEST_F(PlanTest, RelocatableLinksKeepBitcode) {
  bitcode_ = {"a.o", "b.o"};
  EXPECT_THAT(arguments("-r a.o b.o -o c.o"),
              ElementsAre(kStart, "-flto=full", "-fuse-ld=lld", kLdPath,
                          "-Wl,--lto-emit-llvm,--lto-O0", kEnd, "-r", "a.o", "b.o", "-o", "c.o"));
  EXPECT_THAT(arguments("-r n.o m.o -o c.o"), Not(Contains("-Wl,--lto-emit-llvm,--lto-O0")));
  EXPECT_THAT(mistake("-r a.o n.o -o c.o"), HasSubstr("-r: bitcode together with machine code"));
  EXPECT_EQ(mistake("-ftandem-enforce=none -ftandem-report=r -r a.o n.o -o c.o"), "no mistake");
  EXPECT_THAT(arguments("-ftandem-enforce=none -r a.o b.o"),
              Not(Contains("-Wl,--lto-emit-llvm,--lto-O0")));
}

TEST_F(PlanTest, RefusesWhatHidesTheProgram) {
  EXPECT_EQ(mistake("-flto=thin -c a.c"),
            "-flto=thin: thin LTO never shows the linker the whole program; use full LTO "
            "(-flto=full), or drop the option");
  EXPECT_EQ(mistake("-fuse-ld=gold a.o"),
            "-fuse-ld=gold: this linker cannot see the whole program; "
            "use lld, or drop the option");
  EXPECT_THAT(mistake("--ld-path=/usr/bin/ld a.o"), HasSubstr("--ld-path=/usr/bin/ld: "));
  EXPECT_EQ(mistake("-fuse-ld=gold -c a.c"), "no mistake") << "nothing is linked";
  EXPECT_EQ(mistake("-fuse-ld=lld a.o"), "no mistake");
  EXPECT_EQ(mistake("-fuse-ld=/opt/bin/ld.lld-19 a.o"), "no mistake");
  EXPECT_THAT(arguments("--ld-path=/opt/ld.lld a.o"), Not(Contains(kLdPath)));
}

TEST_F(PlanTest, NamesTheProgramThatIsMissing) {
  present_.erase(kBin + "ld.lld");
  EXPECT_THAT(mistake("a.o"), HasSubstr("ld.lld-19: not found"));
  EXPECT_EQ(mistake("-c a.c"), "no mistake");
  present_.erase(kBin + "clang");
  EXPECT_THAT(mistake("-c a.c"), HasSubstr("install clang-19"));
}

TEST_F(PlanTest, ChecksComeBeforeAnythingStarts) {
  EXPECT_THAT(checked("-c a.c -o x/a.o", Check::Kind::writable), ElementsAre("x/a.o"));
  EXPECT_THAT(checked("a.c", Check::Kind::writable), ElementsAre("a.out"));
  EXPECT_THAT(checked("-E a.c -o -", Check::Kind::writable), IsEmpty());
  EXPECT_THAT(checked("-fsyntax-only a.c -o x", Check::Kind::writable), IsEmpty());
  EXPECT_THAT(checked("-### a.c -o /nonexistent/x", Check::Kind::writable), IsEmpty());
  EXPECT_THAT(checked("-ftandem-report=r/%o.json a.o -o x/p", Check::Kind::writable),
              ElementsAre("r/p.json", "x/p"));
  EXPECT_THAT(checked("-ftandem-report=r/%o.json -c a.c -o a.o", Check::Kind::writable),
              ElementsAre("a.o"))
      << "the folder of the link is not known";
  EXPECT_THAT(checked("-ftandem-report=/r/%o.json -c a.c -o a.o", Check::Kind::writable),
              ElementsAre("/r/a.o.json", "a.o"));
  EXPECT_THAT(checked("-ftandem-catalogue=c.toml -c a.c", Check::Kind::catalogue),
              ElementsAre("c.toml"));
  EXPECT_THAT(
      checked("-ftandem-catalogue=c.toml -ftandem-enforce=none -c a.c", Check::Kind::catalogue),
      IsEmpty());
  EXPECT_THAT(checked("-ftandem-catalogue=papers a.o", Check::Kind::catalogue), IsEmpty());
  EXPECT_THAT(checked("-ftandem-catalogue=deferred-output a.o", Check::Kind::catalogue), IsEmpty());
  EXPECT_THAT(mistake("-ftandem-report=%q a.o"), HasSubstr("-ftandem-report: "));
}

TEST_F(PlanTest, AFailedCheckNamesPlaceAndRemedy) {
  const auto failure = [](Check::Kind kind, const char *path) {
    Plan planned;
    planned.checks = {{kind, path, "do this"}};
    const Status status = run_checks(planned);
    return status.ok() ? "no failure" : status.error().message;
  };
  EXPECT_EQ(failure(Check::Kind::writable, "/nonexistent/x"),
            "/nonexistent/x: cannot be written: No such file or directory; do this");
  EXPECT_EQ(failure(Check::Kind::present, "/nonexistent/x"), "/nonexistent/x: not found; do this");
  EXPECT_EQ(failure(Check::Kind::catalogue, "/nonexistent/x"),
            "/nonexistent/x: cannot be read: No such file or directory");
  EXPECT_EQ(failure(Check::Kind::writable, "/dev/null"), "no failure");
}

} // namespace
} // namespace tandem
