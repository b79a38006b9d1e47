// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the driver asks of the pass at a link. It travels in environment variables, because lld
// offers a pass plugin no options of its own: one for each of our options carries its value after
// command line and environment have been merged, the others describe the link.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tandem {

enum class Enforcement { none, global_lock, locks, stm, hybrid, htm };

std::string_view to_string(Enforcement enforcement); // "none", "global-lock", ...
// Error: `'x' is not an enforcement; use none, global-lock, ...`.
Result<Enforcement> parse_enforcement(std::string_view text);

enum class PointsTo { insensitive, sensitive };
std::string_view to_string(PointsTo mode);
Result<PointsTo> parse_points_to(std::string_view text);

// Names of the environment variables.
inline constexpr const char *kEnvEnforce = "TANDEM_ENFORCE";
inline constexpr const char *kEnvReport = "TANDEM_REPORT";       // a pattern, see report_path
inline constexpr const char *kEnvCatalogue = "TANDEM_CATALOGUE"; // a path, or empty
inline constexpr const char *kEnvPointsTo = "TANDEM_POINTS_TO";
inline constexpr const char *kEnvCheckEffects = "TANDEM_CHECK_EFFECTS";     // "1", or empty
inline constexpr const char *kEnvInlineBarriers = "TANDEM_INLINE_BARRIERS"; // "0", or else
inline constexpr const char *kEnvShortSections = "TANDEM_SHORT_SECTIONS";   // "0", or else
inline constexpr const char *kEnvVerbose = "TANDEM_VERBOSE";                // "1", or empty
inline constexpr const char *kEnvConvert = "TANDEM_CONVERT";                // a path, or empty
// Read by the pass alone: an effect to delete, so that the check must fail.
inline constexpr const char *kEnvCheckEffectsDrop = "TANDEM_CHECK_EFFECTS_DROP";
// Set by the driver for the link step only.
inline constexpr const char *kEnvLinkOutput = "TANDEM_LINK_OUTPUT"; // the output's path
// Objects and archives, one a line; or '@' and the path of a file with them, where they are too
// long.
inline constexpr const char *kEnvLinkInputs = "TANDEM_LINK_INPUTS";
inline constexpr const char *kEnvLinkShared = "TANDEM_LINK_SHARED"; // "1" for -shared, else absent

struct PassOptions {
  Enforcement enforcement = Enforcement::none;
  std::string report; // the pattern; empty: no report
  std::string catalogue;
  std::string convert; // which locks become sections; empty: none
  PointsTo points_to = PointsTo::insensitive;
  bool inline_barriers = true;
  bool short_sections = true;
  bool check_effects = false; // build a program that checks its analysis while it runs
  std::string check_effects_drop;
  bool verbose = false; // say in a line what became of the sections
  std::string link_output;
  std::vector<std::string> link_inputs;
  bool link_shared = false;

  // From this process's environment. Error: which variable has which wrong value.
  static Result<PassOptions> from_environment();
};

} // namespace tandem
