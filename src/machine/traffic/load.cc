// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profiles from TOML. What each field means, its unit and range: docs/machine/traffic.md.
#include "base/file.h"
#include "base/toml.h"
#include "machine/traffic/builtin.h"
#include "machine/traffic/profile.h"

#include <fmt/format.h>

namespace tandem::machine {
namespace {

struct Number {
  std::string_view section; // empty: of the file itself
  std::string_view name;
  std::uint32_t least;
  std::uint32_t most;
  void (*set)(Profile &profile, std::uint32_t value);
};

constexpr std::uint32_t kBlocksOfKib = 1024 / 64;

#define TANDEM_REGION(section, member)                                                             \
  {section, "weight", 0, 1000000, [](Profile &p, std::uint32_t v) { p.member.weight = v; }},       \
      {section, "kib", 1, 1 << 20,                                                                 \
       [](Profile &p, std::uint32_t v) { p.member.blocks = v * kBlocksOfKib; }},                   \
  {                                                                                                \
    section, "skew", 1, 32, [](Profile &p, std::uint32_t v) { p.member.skew = v; }                 \
  }
#define TANDEM_NUMBER(name, least, most)                                                           \
  {"", #name, least, most, [](Profile &p, std::uint32_t v) { p.name = v; }}

constexpr Number kNumbers[] = {
    TANDEM_NUMBER(gap, 0, 10000),
    TANDEM_NUMBER(store_percent, 0, 100),
    TANDEM_NUMBER(repeat_permille, 0, 1000),
    TANDEM_NUMBER(stream_percent, 0, 100),
    TANDEM_NUMBER(lock_work, 0, 12),
    TANDEM_NUMBER(phase, 0, 1000000000),
    TANDEM_NUMBER(idle_cores, 0, 63),
    {"", "dependent_percent", 0, 100, [](Profile &p, std::uint32_t v) { p.dependent_percent = v; }},
    {"code", "kib", 1, 1 << 20,
     [](Profile &p, std::uint32_t v) { p.code_blocks = v * kBlocksOfKib; }},
    {"code", "skew", 1, 32, [](Profile &p, std::uint32_t v) { p.code_skew = v; }},
    {"code", "run", 1, 10000, [](Profile &p, std::uint32_t v) { p.code_run = v; }},
    TANDEM_REGION("own", own),
    TANDEM_REGION("read_only", read_only),
    TANDEM_REGION("migratory", migratory),
    TANDEM_REGION("producer_consumer", producer_consumer),
    TANDEM_REGION("false_sharing", false_sharing),
    TANDEM_REGION("locks", locks),
    {"device", "weight", 0, 1000000, [](Profile &p, std::uint32_t v) { p.device.weight = v; }},
    {"device", "kib", 1, 1 << 20,
     [](Profile &p, std::uint32_t v) { p.device.blocks = v * kBlocksOfKib; }},
    {"device", "period", 1, 1000000000, [](Profile &p, std::uint32_t v) { p.device_period = v; }},
};

#undef TANDEM_REGION
#undef TANDEM_NUMBER

Error at(const std::string &place, const toml::source_region &region, const std::string &text) {
  return Error{fmt::format("{}:{}:{}: {}", place, region.begin.line, region.begin.column, text)};
}

std::string fields_of(std::string_view section) {
  std::string names = section.empty() ? "version, name, family, about" : "";
  for (const Number &number : kNumbers)
    if (number.section == section)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", number.name);
  return names + (section == "code" ? ", private" : "");
}

bool is_section(std::string_view name) {
  for (const Number &number : kNumbers)
    if (!name.empty() && number.section == name)
      return true;
  return false;
}

Status read_field(std::string_view section, const toml::key &key, const toml::node &node,
                  const std::string &place, Profile &profile) {
  const std::string name =
      section.empty() ? std::string(key.str()) : fmt::format("{}.{}", section, key.str());
  for (const Number &number : kNumbers) {
    if (number.section != section || number.name != key.str())
      continue;
    const auto *value = node.as_integer();
    if (value == nullptr || value->get() < number.least || value->get() > number.most)
      return at(place, node.source(),
                fmt::format("'{}' must be a whole number from {} to {}", name, number.least,
                            number.most));
    number.set(profile, static_cast<std::uint32_t>(value->get()));
    return Unit{};
  }
  if (name == "code.private") {
    if (!node.is_boolean())
      return at(place, node.source(), "'code.private' must be true or false");
    profile.private_code = node.as_boolean()->get();
    return Unit{};
  }
  if (name == "name" || name == "family" || name == "about") {
    if (!node.is_string())
      return at(place, node.source(), fmt::format("'{}' must be a text in quotes", name));
    (name == "name"     ? profile.name
     : name == "family" ? profile.family
                        : profile.about) = node.as_string()->get();
    return Unit{};
  }
  if (name == "version") {
    if (node.value_or(std::int64_t{0}) == 1)
      return Unit{};
    return at(place, node.source(), "'version' must be 1");
  }
  return at(place, key.source(),
            fmt::format("there is no field '{}'; {} has {}", name,
                        section.empty() ? "a workload" : section, fields_of(section)));
}

// What the generator relies on.
Status check(const Profile &profile, const std::string &place) {
  const Region *regions[] = {
      &profile.own,           &profile.read_only, &profile.migratory, &profile.producer_consumer,
      &profile.false_sharing, &profile.locks,     &profile.device};
  std::uint64_t weights = 0;
  for (const Region *region : regions) {
    weights += region->weight;
    if (region->weight != 0 && region->blocks == 0)
      return Error{fmt::format("{}: a section with a weight needs 'kib'", place)};
  }
  if (profile.device_period != 0 && profile.device.blocks == 0)
    return Error{fmt::format("{}: 'device.period' needs 'device.kib'", place)};
  if (weights == 0)
    return Error{fmt::format("{}: no section has a weight", place)};
  if (profile.own.blocks == 0)
    return Error{fmt::format("{}: 'own.kib' is missing", place)};
  if (profile.name.empty())
    return Error{fmt::format("{}: 'name' is missing", place)};
  return Unit{};
}

} // namespace

Result<Profile> parse_profile(std::string_view text, const std::string &place) {
  const Result<toml::table> file = parse_toml(text, place);
  if (!file)
    return file.error();
  Profile profile;
  profile.family = "own";
  for (const auto &[key, node] : *file) {
    if (!node.is_table()) {
      if (Status read = read_field("", key, node, place, profile); !read)
        return read.error();
      continue;
    }
    if (!is_section(key.str()))
      return at(place, key.source(), fmt::format("there is no section '{}'", key.str()));
    for (const auto &[inner, value] : *node.as_table())
      if (Status read = read_field(key.str(), inner, value, place, profile); !read)
        return read.error();
  }
  if (Status good = check(profile, place); !good)
    return good.error();
  return profile;
}

Result<Profile> load_profile(const std::string &path) {
  const Result<std::string> text = read_file(path, kMostTomlBytes);
  if (!text)
    return text.error();
  return parse_profile(*text, path);
}

} // namespace tandem::machine
