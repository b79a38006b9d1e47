// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/settings.h"

#include <array>
#include <string_view>

namespace tandem {
namespace {

struct OwnOption {
  std::string_view name; // with its '='
  const char *variable;
  Status (*set)(Settings &, const std::string &value);
};

Status assign_switch(bool &field, const std::string &value) {
  if (value != "0" && value != "1")
    return Error{fmt::format("'{}' is neither 0 nor 1", value)};
  field = value == "1";
  return Unit{};
}

template <typename T> Status assign(T &field, Result<T> parsed) {
  if (!parsed)
    return parsed.error();
  field = *parsed;
  return Unit{};
}

constexpr std::array kOwnOptions = {
    OwnOption{"-ftandem-enforce=", kEnvEnforce,
              [](Settings &settings, const std::string &value) {
                return assign(settings.enforcement, parse_enforcement(value));
              }},
    OwnOption{"-ftandem-report=", kEnvReport,
              [](Settings &settings, const std::string &value) {
                settings.report = value;
                return Status{Unit{}};
              }},
    OwnOption{"-ftandem-catalogue=", kEnvCatalogue,
              [](Settings &settings, const std::string &value) {
                settings.catalogue = value;
                return Status{Unit{}};
              }},
    OwnOption{"-ftandem-convert=", kEnvConvert,
              [](Settings &settings, const std::string &value) {
                settings.convert = value;
                return Status{Unit{}};
              }},
    OwnOption{"-ftandem-points-to=", kEnvPointsTo,
              [](Settings &settings, const std::string &value) {
                return assign(settings.points_to, parse_points_to(value));
              }},
    OwnOption{"-ftandem-inline-barriers=", kEnvInlineBarriers,
              [](Settings &settings, const std::string &value) {
                return assign_switch(settings.inline_barriers, value);
              }},
    OwnOption{"-ftandem-short-sections=", kEnvShortSections,
              [](Settings &settings, const std::string &value) {
                return assign_switch(settings.short_sections, value);
              }},
    OwnOption{"-ftandem-check-effects=", kEnvCheckEffects,
              [](Settings &settings, const std::string &value) {
                return assign_switch(settings.check_effects, value);
              }},
    OwnOption{"-ftandem-verbose=", kEnvVerbose,
              [](Settings &settings, const std::string &value) {
                return assign_switch(settings.verbose, value);
              }},
};

const OwnOption *option_of(std::string_view word) {
  for (const OwnOption &option : kOwnOptions)
    if (word.starts_with(option.name))
      return &option;
  return nullptr;
}

} // namespace

Result<Settings> read_settings(const std::vector<std::string> &own_options,
                               const Environment &environment) {
  Settings settings;
  std::array<const std::string *, kOwnOptions.size()> last{};
  static const std::string kVerbose = "-ftandem-verbose=1";
  for (const std::string &given : own_options) {
    const std::string &word = given == "-ftandem-verbose" ? kVerbose : given;
    const OwnOption *option = option_of(word);
    if (option == nullptr)
      return Error{fmt::format("'{}' is not an option; use -ftandem-enforce=, -ftandem-report=, "
                               "-ftandem-catalogue=, -ftandem-convert=, -ftandem-points-to=, "
                               "-ftandem-inline-barriers=, -ftandem-short-sections=, "
                               "-ftandem-check-effects= or -ftandem-verbose=",
                               word)};
    last[static_cast<std::size_t>(option - kOwnOptions.data())] = &word;
  }
  for (std::size_t i = 0; i < kOwnOptions.size(); ++i) {
    const OwnOption &option = kOwnOptions[i];
    std::string place(option.name.substr(0, option.name.size() - 1));
    std::string value;
    if (last[i] != nullptr) {
      value = last[i]->substr(option.name.size());
    } else {
      const auto variable = environment.find(option.variable);
      if (variable == environment.end() || variable->second.empty())
        continue;
      place = option.variable;
      value = variable->second;
    }
    if (Status set = option.set(settings, value); !set)
      return Error{fmt::format("{}: {}", place, set.error().message)};
  }
  if (settings.check_effects)
    settings.enforcement = Enforcement::global_lock; // which needs no copies of functions
  if (!settings.convert.empty() && settings.enforcement == Enforcement::none)
    return Error{"-ftandem-convert: with -ftandem-enforce=none nothing would keep the sections "
                 "atomic; use another enforcement"};
  return settings;
}

std::string settings_help() {
  return R"(OVERVIEW: Tandem compiler for atomic sections: clang 19 with whole-program analysis at the link

TANDEM OPTIONS (each also an environment variable; the command line wins):
  -ftandem-enforce=none|global-lock|locks|stm|hybrid|htm
                          How atomic sections are kept atomic [hybrid] (TANDEM_ENFORCE)
  -ftandem-report=<pattern>
                          Write a report of each link as JSON; %o is the output's file name, %p its
                          path with '-' for '/', %% a percent sign (TANDEM_REPORT)
  -ftandem-catalogue=<file>
                          What external functions do: a TOML file, 'papers' or 'deferred-output'
                          (TANDEM_CATALOGUE)
  -ftandem-convert=<file>
                          Make atomic sections of what the locks guard that this TOML file names
                          (TANDEM_CONVERT)
  -ftandem-points-to=sensitive|insensitive
                          Precision of the points-to analysis [insensitive] (TANDEM_POINTS_TO)
  -ftandem-inline-barriers=0|1
                          Inline the common course of transactional accesses; 0: call the runtime
                          for each [1] (TANDEM_INLINE_BARRIERS)
  -ftandem-short-sections=0|1
                          Run sections of a few accesses in place where they can; 0: make each a
                          transaction [1] (TANDEM_SHORT_SECTIONS)
  -ftandem-check-effects=0|1
                          Enforce by one global lock, and build a program that checks, while it
                          runs, what the analysis says of its sections [0] (TANDEM_CHECK_EFFECTS)
  -ftandem-verbose[=0|1]  Say in one line of each link what became of its sections [0]
                          (TANDEM_VERBOSE)
  With -ftandem-enforce=none and no report nothing is analysed. TANDEM_LLVM_BIN names the folder of
  clang and ld.lld [/usr/lib/llvm-19/bin].

)";
}

} // namespace tandem
