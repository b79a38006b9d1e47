// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/traffic/builtin.h"
#include "machine/traffic/profile.h"

#include <gtest/gtest.h>

namespace tandem::machine {
namespace {

constexpr std::string_view kSmall = R"(version = 1
name = "mine"
gap = 3
dependent_percent = 7
[own]
weight = 10
kib = 64
skew = 2
[code]
kib = 16
private = true
)";

TEST(TrafficFile, FieldsAreRead) {
  const Result<Profile> profile = parse_profile(kSmall, "mine.toml");
  ASSERT_TRUE(profile.ok()) << profile.error().message;
  EXPECT_EQ(profile->name, "mine");
  EXPECT_EQ(profile->gap, 3U);
  EXPECT_EQ(profile->dependent_percent, 7U);
  EXPECT_EQ(profile->own.blocks, 1024U);
  EXPECT_EQ(profile->code_blocks, 256U);
  EXPECT_TRUE(profile->private_code);
}

TEST(TrafficFile, MistakesAreRefusedWithTheirPlace) {
  const auto refused = [](std::string_view text) {
    const Result<Profile> profile = parse_profile(text, "f");
    return profile.ok() ? std::string() : profile.error().message;
  };
  EXPECT_EQ(refused("name = \"x\"\ngip = 3\n").find("f:2:1: there is no field 'gip'"), 0U);
  EXPECT_EQ(refused("[owm]\nkib = 3\n").find("f:1:2: there is no section 'owm'"), 0U);
  EXPECT_EQ(refused("[own]\nskew = 0\n").find("f:2:8: 'own.skew' must be"), 0U);
  EXPECT_NE(refused("name = \"x\"\n[own]\nkib = 3\n").find("no section has a weight"),
            std::string::npos);
  EXPECT_NE(refused("name = \"x\"\n[own]\nkib = 3\nweight = 1\n[locks]\nweight = 1\n")
                .find("needs 'kib'"),
            std::string::npos);
  EXPECT_NE(refused("name = \"x\"\n[own]\nkib = 3\nweight = 1\n[device]\nperiod = 1\n")
                .find("needs 'device.kib'"),
            std::string::npos);
  EXPECT_NE(refused("[own]\nkib = 3\nweight = 1\n").find("'name' is missing"), std::string::npos);
}

TEST(TrafficFile, TheStandInsAreGood) {
  for (const BuiltinProfile &each : builtin_profiles()) {
    const Result<Profile> profile = parse_profile(each.text, each.name);
    ASSERT_TRUE(profile.ok()) << profile.error().message;
    EXPECT_EQ(profile->name + ".toml", each.name);
    EXPECT_TRUE(profile->family == "server" || profile->family == "numerical" ||
                profile->family == "multi-programmed");
  }
}

} // namespace
} // namespace tandem::machine
