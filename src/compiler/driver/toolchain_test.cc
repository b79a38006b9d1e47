// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/toolchain.h"

#include "base/file.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

namespace tandem {
namespace {

FileView only(const std::set<std::string> &present) {
  return {[present](const std::string &path) { return present.contains(path); },
          [](const std::string &) { return false; }};
}

TEST(Toolchain, PrefersDebiansFolder) {
  const Toolchain toolchain("", "/usr/bin",
                            only({"/usr/lib/llvm-19/bin/clang", "/usr/bin/clang-19"}));
  EXPECT_EQ(toolchain.find("clang").value(), "/usr/lib/llvm-19/bin/clang");
}

TEST(Toolchain, SearchesThePathUnderDebiansNames) {
  const Toolchain toolchain("", "/a::/b:/c",
                            only({"/b/clang++-19", "/c/clang++-19", "/a/clang++"}));
  EXPECT_EQ(toolchain.find("clang++").value(), "/b/clang++-19");
  EXPECT_EQ(toolchain.find("ld.lld").error().message,
            "ld.lld-19: not found in /usr/lib/llvm-19/bin or PATH; install lld-19, or let "
            "TANDEM_LLVM_BIN name its folder");
}

TEST(Toolchain, AFolderOfTheUsersIsTheOnlyOne) {
  const Toolchain toolchain("/mine", "/usr/bin",
                            only({"/mine/clang", "/usr/lib/llvm-19/bin/ld.lld"}));
  EXPECT_EQ(toolchain.find("clang").value(), "/mine/clang");
  EXPECT_EQ(
      toolchain.find("ld.lld").error().message,
      "/mine/ld.lld: not found; install lld-19, or let TANDEM_LLVM_BIN name a folder that has "
      "it");
}

TEST(Installation, LiesAroundTheProgram) {
  const Installation installation = installation_of("/opt/tandem/bin/tandem-cc");
  EXPECT_EQ(installation.libraries, "/opt/tandem/lib");
  EXPECT_EQ(installation.headers, "/opt/tandem/include");
  EXPECT_EQ(installation.pass_plugin(), "/opt/tandem/lib/tandem/TandemPass.so");
  EXPECT_EQ(installation.anchor(), "/opt/tandem/lib/tandem/anchor.o");
  EXPECT_EQ(installation.attribute_plugin(), "/opt/tandem/lib/tandem/TandemAttributes.so");
}

TEST(FileView, KnowsBitcodeByItsMagic) {
  const std::string path =
      fmt::format("{}tandem-toolchain-test-{}", testing::TempDir(), ::getpid());
  const FileView files = real_files();
  ASSERT_TRUE(write_file(path, "BC\xC0\xDE and more"));
  EXPECT_TRUE(files.is_bitcode(path));
  ASSERT_TRUE(write_file(path, "\177ELF"));
  EXPECT_FALSE(files.is_bitcode(path));
  ASSERT_TRUE(write_file(path, "BC"));
  EXPECT_FALSE(files.is_bitcode(path));
  EXPECT_TRUE(files.exists(path));
  std::filesystem::remove(path);
  EXPECT_FALSE(files.exists(path));
}

} // namespace
} // namespace tandem
