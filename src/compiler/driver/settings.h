// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver's own options: -ftandem-enforce, -ftandem-report, -ftandem-catalogue,
// -ftandem-convert and others, each also an environment variable. The last one on the command line
// wins, then the environment.
#pragma once

#include "compiler/options/options.h"

#include <map>
#include <string>
#include <vector>

namespace tandem {

// Environment variables by name. An empty value means unset.
using Environment = std::map<std::string, std::string, std::less<>>;

struct Settings {
  Enforcement enforcement = Enforcement::hybrid;
  std::string report;    // the pattern; empty: no report
  std::string catalogue; // a path, the name of a built-in one, or empty
  std::string convert;   // a path, or empty: lock regions keep their locks
  PointsTo points_to = PointsTo::insensitive;
  bool inline_barriers = true;
  bool short_sections = true;
  bool check_effects = false; // enforcement is global_lock then
  bool verbose = false;       // links say what became of the sections

  // Whether links run the pass at all.
  [[nodiscard]] bool analyses() const {
    return enforcement != Enforcement::none || !report.empty() || check_effects;
  }
};

// Error: which option or variable has which wrong value, and the right ones.
Result<Settings> read_settings(const std::vector<std::string> &own_options,
                               const Environment &environment);

// What --help says of the options.
std::string settings_help();

} // namespace tandem
