// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Configurations from TOML.
#include "base/file.h"
#include "base/toml.h"
#include "machine/configuration/builtin.h"
#include "machine/configuration/fields.h"

#include <algorithm>
#include <cmath>

namespace tandem::machine {
namespace {

// Where a value stands, for messages: a file with line and column, or a setting.
struct Place {
  std::string file;
  const toml::source_region *region = nullptr;

  [[nodiscard]] Error error(const std::string &text) const {
    if (region == nullptr)
      return Error{fmt::format("{}: {}", file, text)};
    return Error{fmt::format("{}:{}:{}: {}", file, region->begin.line, region->begin.column, text)};
  }
};

std::string dotted(std::string_view section, std::string_view name) {
  return section.empty() ? std::string(name) : fmt::format("{}.{}", section, name);
}

Status read_number(const Field &field, const NumberField &number, const toml::node &node,
                   const Place &place, Configuration &out) {
  const std::optional<double> given =
      number.scale == 1 && !node.is_integer() ? std::nullopt : node.value<double>();
  const std::string name = dotted(field.section, field.name);
  if (!given || !node.is_number())
    return place.error(fmt::format(
        "'{}' must be a {}number ({} to {}{}{})", name, number.scale == 1 ? "whole " : "",
        1.0 * number.least / number.scale, number.most, field.unit.empty() ? "" : " ", field.unit));
  const double kept = *given * number.scale;
  if (*given < number.least / static_cast<double>(number.scale) || *given > number.most ||
      (number.least >= 1 && kept < 1))
    return place.error(fmt::format("'{}' is {}, but must be from {} to {}", name, *given,
                                   1.0 * number.least / number.scale, number.most));
  if (kept != std::floor(kept))
    return place.error(fmt::format("'{}' must be a multiple of {}", name, 1.0 / number.scale));
  number.member(out) = static_cast<std::uint32_t>(kept);
  return Unit{};
}

Status read_choice(const Field &field, const ChoiceField &choice, const toml::node &node,
                   const Place &place, Configuration &out) {
  // Numbers are words here too: technology_nm = 22.
  const std::string word = node.is_integer() ? fmt::format("{}", node.as_integer()->get())
                                             : node.value_or(std::string());
  const auto found = std::find(choice.words.begin(), choice.words.end(), word);
  if (found == choice.words.end()) {
    std::string words;
    for (const std::string_view each : choice.words)
      words += fmt::format("{}'{}'", words.empty() ? "" : ", ", each);
    return place.error(
        fmt::format("'{}' must be one of {}", dotted(field.section, field.name), words));
  }
  choice.set(out, static_cast<std::uint32_t>(found - choice.words.begin()));
  return Unit{};
}

Status read_field(const Field &field, const toml::node &node, const Place &place,
                  Configuration &out) {
  if (const auto *number = std::get_if<NumberField>(&field.kind))
    return read_number(field, *number, node, place, out);
  const std::string name = dotted(field.section, field.name);
  if (const auto *flag = std::get_if<FlagField>(&field.kind)) {
    if (!node.is_boolean())
      return place.error(fmt::format("'{}' must be true or false", name));
    flag->member(out) = node.as_boolean()->get();
    return Unit{};
  }
  if (const auto *text = std::get_if<TextField>(&field.kind)) {
    if (!node.is_string())
      return place.error(fmt::format("'{}' must be a text in quotes", name));
    text->member(out) = node.as_string()->get();
    return Unit{};
  }
  return read_choice(field, std::get<ChoiceField>(field.kind), node, place, out);
}

const Field *find_field(std::string_view section, std::string_view name) {
  for (const Field &field : configuration_fields())
    if (field.section == section && field.name == name)
      return &field;
  return nullptr;
}

bool is_section(std::string_view name) {
  return std::any_of(configuration_fields().begin(), configuration_fields().end(),
                     [&](const Field &field) { return field.section == name; });
}

std::string names_in(std::string_view section) {
  std::string names;
  for (const Field &field : configuration_fields())
    if (field.section == section)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", field.name);
  return names;
}

Status read_options(const toml::node &node, const Place &place, Configuration &out) {
  if (!node.is_table())
    return place.error("'options' must be tables: [options.PROTOCOL]");
  for (const auto &[protocol, table] : *node.as_table()) {
    const Place here{place.file, place.region == nullptr ? nullptr : &protocol.source()};
    if (!table.is_table())
      return here.error(fmt::format("'options.{}' must be a table", protocol.str()));
    for (const auto &[name, value] : *table.as_table()) {
      const Place at{place.file, place.region == nullptr ? nullptr : &name.source()};
      if (!value.is_boolean() && !(value.is_integer() && value.as_integer()->get() >= 0))
        return at.error(fmt::format("'options.{}.{}' must be a whole number, true or false",
                                    protocol.str(), name.str()));
      out.options[std::string(protocol.str())][std::string(name.str())] =
          value.is_boolean() ? (value.as_boolean()->get() ? 1 : 0)
                             : static_cast<std::uint64_t>(value.as_integer()->get());
    }
  }
  return Unit{};
}

// `settings`: the table stands in a setting, whose positions say nothing.
Status read_table(const toml::table &table, std::string_view section, const std::string &file,
                  bool setting, Configuration &out) {
  for (const auto &[key, value] : table) {
    const Place place{file, setting ? nullptr : &key.source()};
    const std::string_view name = key.str();
    if (section.empty() && name == "version") {
      if (value.value_or(std::int64_t{0}) != 1)
        return place.error("'version' must be 1");
      continue;
    }
    if (section.empty() && name == "options") {
      if (Status read = read_options(value, place, out); !read)
        return read;
      continue;
    }
    if (section.empty() && !name.empty() && is_section(name)) {
      if (!value.is_table())
        return place.error(fmt::format("'{}' must be a table: [{}]", name, name));
      if (Status read = read_table(*value.as_table(), name, file, setting, out); !read)
        return read;
      continue;
    }
    const Field *field = find_field(section, name);
    if (field == nullptr)
      return place.error(section.empty() ? fmt::format("unknown field or section '{}'", name)
                                         : fmt::format("unknown field '{}' in [{}]; it has {}",
                                                       name, section, names_in(section)));
    if (Status read = read_field(*field, value, place, out); !read)
      return read;
  }
  return Unit{};
}

Status apply_setting(const std::string &setting, Configuration &out) {
  const std::string place = "--set " + setting;
  if (setting.find('=') == std::string::npos || setting.find('\n') != std::string::npos)
    return Error{fmt::format("{}: write SECTION.FIELD=VALUE", place)};
  Result<toml::table> document = parse_toml(setting, place);
  // A bare word is a text: --set network.kind=bus.
  if (!document) {
    const std::size_t equal = setting.find('=');
    document =
        parse_toml(setting.substr(0, equal + 1) + "\"" + setting.substr(equal + 1) + "\"", place);
  }
  if (!document)
    return Error{fmt::format("{}: not TOML: write SECTION.FIELD=VALUE", place)};
  return read_table(*document, "", place, true, out);
}

} // namespace

Result<Configuration> parse_configuration(std::string_view text, const std::string &place,
                                          const std::vector<std::string> &settings) {
  const Result<toml::table> document = parse_toml(text, place);
  if (!document)
    return document.error();
  Configuration configuration;
  const toml::table &table = *document;
  if (!table.contains("version"))
    return Error{fmt::format("{}:1:1: 'version = 1' is missing", place)};
  if (Status read = read_table(table, "", place, false, configuration); !read)
    return read.error();
  for (const std::string &setting : settings)
    if (Status read = apply_setting(setting, configuration); !read)
      return read.error();
  const std::optional<Inconsistency> wrong = inconsistency(configuration);
  if (!wrong)
    return configuration;
  // The place of the field to blame, where the file has it.
  Place blame{place, nullptr};
  if (const toml::node *node = wrong->section.empty() ? table.get(wrong->name)
                                                      : table[wrong->section][wrong->name].node();
      node != nullptr)
    blame.region = &node->source();
  return blame.error(fmt::format("'{}': {}", dotted(wrong->section, wrong->name), wrong->text));
}

std::vector<NamedConfiguration> named_configurations() {
  std::vector<NamedConfiguration> found;
  for (const BuiltinConfiguration &builtin : builtin_configurations()) {
    const Result<Configuration> parsed = parse_configuration(builtin.text, builtin.name, {});
    CHECK(parsed.ok(), "{}", parsed.error().message);
    found.push_back({builtin.name, parsed->title});
  }
  return found;
}

Result<Configuration> load_configuration(const std::string &name_or_path,
                                         const std::vector<std::string> &settings) {
  if (name_or_path.find('/') == std::string::npos && !name_or_path.ends_with(".toml")) {
    std::string names;
    for (const BuiltinConfiguration &builtin : builtin_configurations()) {
      if (builtin.name == name_or_path)
        return parse_configuration(builtin.text, builtin.name, settings);
      names += fmt::format("{}{}", names.empty() ? "" : ", ", builtin.name);
    }
    return Error{fmt::format("there is no configuration '{}'; there are {}, and files ending in "
                             ".toml",
                             name_or_path, names)};
  }
  const Result<std::string> text = read_file(name_or_path, kMostTomlBytes);
  if (!text)
    return text.error();
  return parse_configuration(*text, name_or_path, settings);
}

} // namespace tandem::machine
