// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/settings.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

std::string mistake(const std::vector<std::string> &own_options, const Environment &environment) {
  const Result<Settings> settings = read_settings(own_options, environment);
  return settings.ok() ? "no mistake" : settings.error().message;
}

TEST(Settings, DefaultsAreHybridWithoutAReport) {
  const Settings settings = read_settings({}, {}).value();
  EXPECT_EQ(settings.enforcement, Enforcement::hybrid);
  EXPECT_EQ(settings.points_to, PointsTo::insensitive);
  EXPECT_EQ(settings.report, "");
  EXPECT_EQ(settings.catalogue, "");
  EXPECT_TRUE(settings.analyses());
}

TEST(Settings, TheEnvironmentSpeaksWhereTheCommandLineIsSilent) {
  const Environment environment = {{"TANDEM_ENFORCE", "none"},
                                   {"TANDEM_REPORT", "/r/%o.json"},
                                   {"TANDEM_CATALOGUE", "c.toml"},
                                   {"TANDEM_POINTS_TO", "sensitive"}};
  const Settings quiet = read_settings({}, environment).value();
  EXPECT_EQ(quiet.enforcement, Enforcement::none);
  EXPECT_EQ(quiet.report, "/r/%o.json");
  EXPECT_EQ(quiet.catalogue, "c.toml");
  EXPECT_EQ(quiet.points_to, PointsTo::sensitive);
  EXPECT_TRUE(quiet.analyses());

  const Settings loud = read_settings({"-ftandem-enforce=stm", "-ftandem-enforce=locks",
                                       "-ftandem-report=", "-ftandem-catalogue=papers",
                                       "-ftandem-points-to=insensitive"},
                                      environment)
                            .value();
  EXPECT_EQ(loud.enforcement, Enforcement::locks) << "the last one wins";
  EXPECT_EQ(loud.report, "") << "an empty pattern takes the environment's back";
  EXPECT_EQ(loud.catalogue, "papers");
  EXPECT_EQ(loud.points_to, PointsTo::insensitive);
}

TEST(Settings, AccessesAreInlinedUnlessToldOtherwise) {
  EXPECT_TRUE(read_settings({}, {}).value().inline_barriers);
  EXPECT_FALSE(read_settings({}, {{"TANDEM_INLINE_BARRIERS", "0"}}).value().inline_barriers);
  EXPECT_TRUE(read_settings({"-ftandem-inline-barriers=1"}, {{"TANDEM_INLINE_BARRIERS", "0"}})
                  .value()
                  .inline_barriers);
  EXPECT_EQ(mistake({"-ftandem-inline-barriers=no"}, {}),
            "-ftandem-inline-barriers: 'no' is neither 0 nor 1");
  EXPECT_TRUE(read_settings({}, {}).value().short_sections);
  EXPECT_FALSE(read_settings({"-ftandem-short-sections=0"}, {}).value().short_sections);
  EXPECT_TRUE(read_settings({"-ftandem-verbose"}, {}).value().verbose);
  EXPECT_FALSE(read_settings({"-ftandem-verbose=0"}, {{"TANDEM_VERBOSE", "1"}}).value().verbose);
}

TEST(Settings, NoneWithoutAReportAnalysesNothing) {
  EXPECT_FALSE(read_settings({"-ftandem-enforce=none"}, {}).value().analyses());
  EXPECT_TRUE(
      read_settings({"-ftandem-enforce=none", "-ftandem-report=r.json"}, {}).value().analyses());
  EXPECT_TRUE(read_settings({}, {{"TANDEM_ENFORCE", ""}}).value().analyses()) << "empty is unset";
}

TEST(Settings, AMistakeNamesItsPlaceAndTheRightValues) {
  EXPECT_EQ(mistake({"-ftandem-enforce=tm"}, {}),
            "-ftandem-enforce: 'tm' is not an enforcement; use none, global-lock, locks, stm, "
            "hybrid or htm");
  EXPECT_EQ(mistake({}, {{"TANDEM_POINTS_TO", "deep"}}),
            "TANDEM_POINTS_TO: 'deep' is not a points-to mode; use sensitive or insensitive");
  EXPECT_EQ(
      mistake({"-ftandem-enforcement=stm"}, {}),
      "'-ftandem-enforcement=stm' is not an option; use -ftandem-enforce=, -ftandem-report=, "
      "-ftandem-catalogue=, -ftandem-convert=, -ftandem-points-to=, -ftandem-inline-barriers=, "
      "-ftandem-short-sections=, -ftandem-check-effects= or -ftandem-verbose=");
  EXPECT_EQ(mistake({"-ftandem-enforce"}, {}).substr(0, 36),
            "'-ftandem-enforce' is not an option;");
  EXPECT_EQ(mistake({"-ftandem-enforce=stm"}, {{"TANDEM_ENFORCE", "nonsense"}}), "no mistake");
}

} // namespace
} // namespace tandem
