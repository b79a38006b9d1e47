// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/quantities.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>

namespace tandem::machine_cli {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// The number in front of one of the units; none if it is not one, or no whole number of what the
// unit counts, or too large.
std::optional<std::uint64_t> scaled(std::string_view text, std::span<const Unit> units) {
  double value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc())
    return std::nullopt;
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  for (const Unit &known : units) {
    const double result = value * known.factor;
    if (unit == known.name && result >= 0 && result < 0x1p62 && std::floor(result) == result)
      return static_cast<std::uint64_t>(result);
  }
  return std::nullopt;
}

} // namespace

Result<std::uint64_t> parse_bytes(const std::string &text) {
  static constexpr Unit kUnits[] = {{"", 1},        {"K", 0x1p10},  {"M", 0x1p20}, {"G", 0x1p30},
                                    {"KB", 0x1p10}, {"MB", 0x1p20}, {"GB", 0x1p30}};
  const std::optional<std::uint64_t> bytes = scaled(text, kUnits);
  if (!bytes)
    return Error{fmt::format("'{}' is no size; write it as 512M or 2G", text)};
  return *bytes;
}

Result<std::uint64_t> parse_count(const std::string &text) {
  static constexpr Unit kUnits[] = {{"", 1}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}};
  const std::optional<std::uint64_t> count = scaled(text, kUnits);
  if (!count || *count == 0)
    return Error{fmt::format("'{}' is no number above 0; write it as 2000000, 2M or 1.5G", text)};
  return *count;
}

Result<std::uint64_t> parse_time(const std::string &text) {
  static constexpr Unit kUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  const std::optional<std::uint64_t> cycles = scaled(text, kUnits);
  if (!cycles)
    return Error{fmt::format("'{}' is no time; write it as 5.5ms or 100us", text)};
  return *cycles;
}

} // namespace tandem::machine_cli
