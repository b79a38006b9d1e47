// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suppression files.
#include "base/toml.h"
#include "cli/findings/suppress.h"

namespace tandem {
namespace {

Error at(const std::string &path, const toml::source_position &position, const std::string &text) {
  return Error{fmt::format("{}:{}: {}", path, position.line, text)};
}

Status read_field(SuppressionEntry &entry, const std::string &path, const toml::key &key,
                  const toml::node &value) {
  const std::string_view name = key.str();
  std::string *field = name == "rule"       ? &entry.rule
                       : name == "file"     ? &entry.file
                       : name == "function" ? &entry.function
                       : name == "section"  ? &entry.section
                       : name == "reason"   ? &entry.reason
                                            : nullptr;
  if (field == nullptr)
    return at(path, key.source().begin,
              fmt::format("unknown field '{}'; use rule, file, function, section, reason", name));
  if (!value.is_string())
    return at(path, key.source().begin, fmt::format("'{}' must be a string", name));
  *field = value.as_string()->get();
  if (name == "rule")
    if (const auto rules = parse_rules(*field); !rules || rules->size() != 1)
      return at(path, key.source().begin,
                rules ? fmt::format("'{}' is several rules; write an entry for each", *field)
                      : rules.error().message);
  return Unit{};
}

Result<SuppressionEntry> read_entry(const std::string &path, const toml::node &node) {
  if (!node.is_table())
    return at(path, node.source().begin, "must be a table: [[suppress]]");
  SuppressionEntry entry;
  entry.line = static_cast<std::uint32_t>(node.source().begin.line);
  for (const auto &[key, value] : *node.as_table())
    if (Status read = read_field(entry, path, key, value); !read)
      return read.error();
  if (entry.rule.empty())
    return at(path, node.source().begin, "'rule' is missing");
  if (entry.reason.find_first_not_of(" \t\n") == std::string::npos)
    return at(path, node.source().begin, "'reason' is missing: say why this finding is acceptable");
  return entry;
}

} // namespace

Result<SuppressionFile> load_suppressions(const std::string &path) {
  const Result<toml::table> document = read_toml(path);
  if (!document)
    return document.error();
  SuppressionFile file{path, {}};
  for (const auto &[key, value] : *document) {
    if (key.str() != "suppress" || !value.is_array())
      return at(path, key.source().begin,
                fmt::format("unknown '{}'; write entries that begin with [[suppress]]", key.str()));
    for (const toml::node &node : *value.as_array()) {
      Result<SuppressionEntry> entry = read_entry(path, node);
      if (!entry)
        return entry.error();
      file.entries.push_back(std::move(*entry));
    }
  }
  return file;
}

} // namespace tandem
