// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/configuration/configuration.h"

#include "machine/configuration/fields.h"

#include <gmock/gmock.h>
#include <set>

namespace tandem::machine {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string mistake(const std::string &text, const std::vector<std::string> &settings = {}) {
  const Result<Configuration> parsed = parse_configuration(text, "m.toml", settings);
  EXPECT_FALSE(parsed.ok()) << text;
  const std::string message = parsed.ok() ? "" : parsed.error().message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
  return message;
}

// What a path says of itself, by field and by what the paper calls it (FLASK, Table I).
TEST(Configuration, FlaskIsTableOne) {
  const Result<Configuration> loaded = load_configuration("flask", {});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const Configuration &c = *loaded;
  EXPECT_EQ(c.cores, 16u);
  EXPECT_EQ(c.clock_mhz, 3000u);
  EXPECT_EQ(c.l1d.sets(), 128u);
  EXPECT_EQ(c.l2.sets(), 512u);
  EXPECT_FALSE(c.l2_inclusive);
  EXPECT_EQ(c.llc.sets() * c.llc.ways * kBlockBytes * c.cores, 16u << 20);
  EXPECT_EQ(c.private_blocks(), 5120u);
  EXPECT_EQ(c.directory_sets(), 1024u);
  EXPECT_EQ(c.data_flits(), 5u);
  EXPECT_EQ(c.mesh().columns, 4u);
  EXPECT_EQ(c.mesh().rows, 4u);
}

// S = 1024 * x / 160 at all sizes that the paper sweeps.
TEST(Configuration, ProvisioningDecidesTheSets) {
  for (const unsigned percent : {160u, 80u, 40u, 20u, 10u, 5u}) {
    const Result<Configuration> loaded =
        load_configuration("flask", {fmt::format("directory.provision_percent={}", percent)});
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    EXPECT_EQ(loaded->directory_sets(), 1024 * percent / 160);
  }
  const Result<Configuration> fraction =
      load_configuration("flask", {"directory.provision_percent=2.5"});
  ASSERT_TRUE(fraction.ok()) << fraction.error().message;
  EXPECT_EQ(fraction->directory_sets(), 16u);
}

TEST(Configuration, MetatmIsItsPaper) {
  const Result<Configuration> loaded = load_configuration("metatm", {});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->cores, 8u);
  EXPECT_EQ(loaded->network.kind, NetworkKind::bus);
  EXPECT_EQ(loaded->l2.blocks() * kBlockBytes, 4u << 20);
  EXPECT_TRUE(loaded->l2_inclusive);
  EXPECT_EQ(loaded->memory.latency, 200u);
}

TEST(Configuration, AllNamedOnesAreRight) {
  EXPECT_GE(named_configurations().size(), 3u);
  for (const NamedConfiguration &named : named_configurations())
    EXPECT_FALSE(named.title.empty());
}

TEST(Configuration, EveryFieldSurvivesWritingAndReading) {
  const Result<Configuration> first = load_configuration("metatm", {"options.flask.phases=2"});
  ASSERT_TRUE(first.ok()) << first.error().message;
  const std::string text = to_toml(*first);
  const Result<Configuration> again = parse_configuration(text, "again", {});
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(to_toml(*again), text);
  EXPECT_EQ(again->options.at("flask").at("phases"), 2u);
}

TEST(Configuration, EveryNumberOfCoresHasAMesh) {
  for (unsigned cores = 1; cores <= 64; ++cores) {
    const Result<Configuration> loaded = load_configuration(
        "flask", {fmt::format("cores={}", cores), "network.columns=0", "memory.controllers=1"});
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    const MeshShape shape = loaded->mesh();
    EXPECT_GE(shape.columns * shape.rows, cores);
    EXPECT_LE(shape.columns * shape.rows, kMaxTiles);
  }
}

TEST(Configuration, ControllersHaveTilesOfTheirOwn) {
  for (unsigned cores = 4; cores <= 64; ++cores) {
    Configuration c;
    c.cores = cores;
    c.memory.controllers = 4;
    std::set<std::uint32_t> tiles;
    for (std::uint32_t i = 0; i < 4; ++i)
      tiles.insert(c.controller_tile(i));
    EXPECT_EQ(tiles.size(), 4u);
    EXPECT_LT(*tiles.rbegin(), cores);
  }
}

TEST(Configuration, MistakesAreOneLineWithTheirPlace) {
  EXPECT_THAT(mistake("version = 1\ncoers = 3\n"), StartsWith("m.toml:2:1: unknown field"));
  EXPECT_THAT(mistake("version = 1\n[llc]\nbanks = 3\n"),
              testing::AllOf(StartsWith("m.toml:3:1: unknown field 'banks' in [llc]"),
                             HasSubstr("slice_kib")));
  EXPECT_THAT(mistake("version = 1\n[lcc]\nways = 3\n"), StartsWith("m.toml:2:"));
  EXPECT_THAT(mistake("version = 1\ncores = 65\n"), StartsWith("m.toml:2:1: 'cores' is 65"));
  EXPECT_THAT(mistake("version = 1\ncores = \"4\"\n"), HasSubstr("'cores' must be a whole number"));
  EXPECT_THAT(mistake("version = 1\ncores = 2.5\n"), HasSubstr("whole number"));
  EXPECT_THAT(mistake("version = 1\n[l2]\ninclusive = 1\n"), HasSubstr("must be true or false"));
  EXPECT_THAT(mistake("version = 1\n[l2]\nreplacement = \"mru\"\n"), HasSubstr("'tree-plru'"));
  EXPECT_THAT(mistake("version = 2\n"), HasSubstr("'version' must be 1"));
  EXPECT_THAT(mistake("cores = 2\n"), HasSubstr("'version = 1' is missing"));
  EXPECT_THAT(mistake("version = \n"), StartsWith("m.toml:1:"));
  EXPECT_THAT(mistake("version = 1\nl2 = 3\n"), HasSubstr("must be a table"));
  EXPECT_THAT(mistake("version = 1\n[options]\nflask = 3\n"), HasSubstr("must be a table"));
}

TEST(Configuration, WhatDoesNotFitTogetherIsRefused) {
  EXPECT_THAT(mistake("version = 1\n[l2]\nways = 7\n"),
              testing::AllOf(StartsWith("m.toml:3:8: 'l2.ways'"), HasSubstr("not a multiple")));
  EXPECT_THAT(mistake("version = 1\n[filter]\nsub_tables = 8\n"), HasSubstr("leave no way"));
  EXPECT_THAT(mistake("version = 1\n[filter]\ncells = 16\n"), HasSubstr("do not fit"));
  EXPECT_THAT(mistake("version = 1\n[hart]\nmodel = \"window\"\nstore_buffer = 8\n"),
              HasSubstr("have no other buffer of stores"));
  EXPECT_THAT(mistake("version = 1\n[directory]\nprovision_percent = 0.1\nways = 8\n"),
              HasSubstr("less than one set"));
  EXPECT_THAT(mistake("version = 1\ncores = 2\n[memory]\ncontrollers = 4\n"),
              HasSubstr("4 controllers for 2 tiles"));
  EXPECT_THAT(mistake("version = 1\n[network]\nlink_bytes = 12\n"), HasSubstr("power of two"));
  EXPECT_THAT(mistake("version = 1\n[l2]\nsize_kib = 32\ninclusive = true\n"),
              HasSubstr("inclusive"));
}

TEST(Configuration, SettingsAreNamedInMessages) {
  EXPECT_THAT(mistake("version = 1\n", {"cores"}), StartsWith("--set cores: write SECTION"));
  EXPECT_THAT(mistake("version = 1\n", {"llc.wasy=3"}), StartsWith("--set llc.wasy=3: unknown"));
  EXPECT_THAT(mistake("version = 1\n", {"network.kind=ring"}), HasSubstr("'mesh', 'bus'"));
  const Result<Configuration> bare =
      parse_configuration("version = 1\n", "m", {"network.kind=bus"});
  ASSERT_TRUE(bare.ok()) << bare.error().message;
  EXPECT_EQ(bare->network.kind, NetworkKind::bus);
  EXPECT_THAT(load_configuration("flsk", {}).error().message, HasSubstr("flask, metatm"));
}

TEST(Configuration, EveryFieldIsDocumented) {
  const std::string reference = configuration_reference();
  for (const Field &field : configuration_fields()) {
    EXPECT_FALSE(field.meaning.empty()) << field.name;
    EXPECT_THAT(reference, HasSubstr(fmt::format("| `{}` |", field.name)));
  }
}

} // namespace
} // namespace tandem::machine
