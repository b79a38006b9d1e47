// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/options/options.h"

#include "base/file.h"

#include <algorithm>
#include <cstdlib>

namespace tandem {
namespace {

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> lines_of(const std::string &text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin)
      lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

} // namespace

std::string_view to_string(Enforcement enforcement) {
  switch (enforcement) {
  case Enforcement::none:
    return "none";
  case Enforcement::global_lock:
    return "global-lock";
  case Enforcement::locks:
    return "locks";
  case Enforcement::stm:
    return "stm";
  case Enforcement::hybrid:
    return "hybrid";
  case Enforcement::htm:
    return "htm";
  }
  CHECK(false, "enforcement {}", static_cast<int>(enforcement));
}

Result<Enforcement> parse_enforcement(std::string_view text) {
  for (const Enforcement candidate :
       {Enforcement::none, Enforcement::global_lock, Enforcement::locks, Enforcement::stm,
        Enforcement::hybrid, Enforcement::htm})
    if (text == to_string(candidate))
      return candidate;
  return Error{fmt::format(
      "'{}' is not an enforcement; use none, global-lock, locks, stm, hybrid or htm", text)};
}

std::string_view to_string(PointsTo mode) {
  return mode == PointsTo::sensitive ? "sensitive" : "insensitive";
}

Result<PointsTo> parse_points_to(std::string_view text) {
  if (text == "sensitive")
    return PointsTo::sensitive;
  if (text == "insensitive")
    return PointsTo::insensitive;
  return Error{fmt::format("'{}' is not a points-to mode; use sensitive or insensitive", text)};
}

Result<PassOptions> PassOptions::from_environment() {
  PassOptions options;
  if (const std::string value = environment(kEnvEnforce); !value.empty()) {
    const Result<Enforcement> enforcement = parse_enforcement(value);
    if (!enforcement)
      return Error{fmt::format("{}: {}", kEnvEnforce, enforcement.error().message)};
    options.enforcement = *enforcement;
  }
  if (const std::string value = environment(kEnvPointsTo); !value.empty()) {
    const Result<PointsTo> mode = parse_points_to(value);
    if (!mode)
      return Error{fmt::format("{}: {}", kEnvPointsTo, mode.error().message)};
    options.points_to = *mode;
  }
  options.report = environment(kEnvReport);
  options.inline_barriers = environment(kEnvInlineBarriers) != "0";
  options.short_sections = environment(kEnvShortSections) != "0";
  options.check_effects = environment(kEnvCheckEffects) == "1";
  if (options.check_effects)
    options.check_effects_drop = environment(kEnvCheckEffectsDrop);
  options.verbose = environment(kEnvVerbose) == "1";
  options.catalogue = environment(kEnvCatalogue);
  options.convert = environment(kEnvConvert);
  options.link_output = environment(kEnvLinkOutput);
  std::string inputs = environment(kEnvLinkInputs);
  if (inputs.starts_with("@")) {
    Result<std::string> text = read_file(inputs.substr(1));
    if (!text)
      return text.error();
    inputs = std::move(*text);
  }
  options.link_inputs = lines_of(inputs);
  options.link_shared = environment(kEnvLinkShared) == "1";
  return options;
}

} // namespace tandem
