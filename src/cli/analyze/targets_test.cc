// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/targets.h"

#include "base/file.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <unistd.h>

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Targets : public testing::Test {
protected:
  Targets() : folder_(fmt::format("{}targets_test.{}", testing::TempDir(), ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Targets() override { std::filesystem::remove_all(folder_); }

  void put(const std::string &name, const std::string &text) {
    const std::string path = folder_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    ASSERT_TRUE(write_file(path, text).ok());
  }
  // Units whose objects have these names.
  std::vector<BuildTarget> find(const std::vector<std::string> &objects) {
    std::vector<CompileUnit> units;
    for (const std::string &object : objects)
      units.push_back({"x.c", false, folder_, {}, folder_ + "/" + object});
    Result<std::vector<BuildTarget>> found = find_targets(folder_, units);
    EXPECT_TRUE(found.ok());
    return std::move(*found);
  }

  std::string folder_;
};

TEST_F(Targets, OfNinja) {
  put("build.ninja", "rule cc\n command = cc $in\n"
                     "build d/a.o: cc ../a.c\n"
                     "build libx.a: C_STATIC_LIBRARY_LINKER__x b.o $\n    c$ d.o\n"
                     "build bin/one: C_EXECUTABLE_LINKER__one d/a.o | libx.a lib/s.so || libx.a\n"
                     "  LINK_LIBRARIES = libx.a\n"
                     "build lib/s.so | lib/s.so.1: cpp_LINKER e.o\n"
                     "build all: phony bin/one e.o\n"
                     "build made.c: CUSTOM_COMMAND e.o\n");
  const std::vector<BuildTarget> targets = find({"d/a.o", "b.o", "c d.o", "e.o"});
  ASSERT_EQ(targets.size(), 3u);
  EXPECT_EQ(targets[0].name, "libx.a");
  EXPECT_THAT(targets[0].units, ElementsAre(1, 2));
  EXPECT_TRUE(targets[0].used);
  EXPECT_EQ(targets[1].name, "one");
  EXPECT_THAT(targets[1].units, ElementsAre(0));
  EXPECT_THAT(targets[1].archived, ElementsAre(1, 2));
  EXPECT_FALSE(targets[1].used);
  EXPECT_EQ(targets[2].name, "s.so");
  EXPECT_THAT(targets[2].units, ElementsAre(3));
}

TEST_F(Targets, OfMakefiles) {
  put("sub/CMakeFiles/x.dir/link.txt", "/usr/bin/ar qc libx.a CMakeFiles/x.dir/b.c.o\n"
                                       "/usr/bin/ranlib libx.a\n");
  put("CMakeFiles/one.dir/link.txt", "/usr/bin/cc -O2 @CMakeFiles/one.dir/objects1.rsp -o one "
                                     "-Wl,-rpath,/x sub/libx.a -lpthread\n");
  put("CMakeFiles/one.dir/objects1.rsp", "CMakeFiles/one.dir/a.c.o \"CMakeFiles/one.dir/c d.c.o\"");
  put("CMakeFiles/tried.dir/link.txt", "/usr/bin/cc unknown.o -o tried\n");
  const std::vector<BuildTarget> targets = find(
      {"CMakeFiles/one.dir/a.c.o", "sub/CMakeFiles/x.dir/b.c.o", "CMakeFiles/one.dir/c d.c.o"});
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].name, "libx.a");
  EXPECT_EQ(targets[1].name, "one");
  EXPECT_THAT(targets[1].units, ElementsAre(0, 2));
  EXPECT_THAT(targets[1].archived, ElementsAre(1));
}

// An object that is made of objects; two targets of one name.
TEST_F(Targets, ByPath) {
  put("build.ninja", "build both.o: relocate a.o b.o\nbuild x/p: link both.o\n"
                     "build y/p: link b.o\n");
  const std::vector<BuildTarget> targets = find({"a.o", "b.o"});
  ASSERT_EQ(targets.size(), 2u);
  EXPECT_EQ(targets[0].name, "x/p");
  EXPECT_THAT(targets[0].units, ElementsAre(0, 1));
  EXPECT_EQ(targets[1].name, "y/p");
}

TEST_F(Targets, NoneWithoutLinkCommands) { EXPECT_TRUE(find({"a.o"}).empty()); }

TEST(ChooseTargets, ByNameAndAllThatNoOtherHas) {
  const std::vector<BuildTarget> all = {
      {"libcache.a", {1}, {}, true}, {"libcache.so", {1}, {}, false}, {"server", {0}, {1}, false}};
  const auto names = [&](const std::string &name) {
    std::string text;
    const Result<std::vector<BuildTarget>> chosen = choose_targets(all, name);
    if (!chosen)
      return chosen.error().message;
    for (const BuildTarget &target : *chosen)
      text += target.name + " ";
    return text;
  };
  EXPECT_EQ(names(""), "libcache.so server ");
  EXPECT_EQ(names("server"), "server ");
  EXPECT_EQ(names("libcache.a"), "libcache.a ");
  EXPECT_EQ(names("cache"), "--target cache: may be libcache.a or libcache.so");
  EXPECT_EQ(names("sever"), "--target sever: the build links no such program or library; did you "
                            "mean server?");
  EXPECT_THAT(names("other"), HasSubstr("it has libcache.a, libcache.so, server"));
}

} // namespace
} // namespace tandem
