// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/catalogue/catalogue.h"

#include "base/file.h"
#include "compiler/catalogue/builtin.h"

#include <array>
#include <cctype>
#include <optional>
#include <toml++/toml.h>

namespace tandem {
namespace {

using Entries = std::map<std::string, CatalogueEntry, std::less<>>;

constexpr int kVersion = 1;
constexpr std::array kEffects = {ExternalEffect::pure,       ExternalEffect::thread_local_,
                                 ExternalEffect::reads,      ExternalEffect::tm_safe,
                                 ExternalEffect::deferrable, ExternalEffect::irrevocable};
constexpr const char *kEffectNames =
    "pure, thread-local, reads, tm-safe, deferrable or irrevocable";

std::optional<ExternalEffect> effect_from(std::string_view text) {
  for (const ExternalEffect effect : kEffects)
    if (text == to_string(effect))
      return effect;
  return std::nullopt;
}

// What an entry of `effect` is where the file says no more: the worst that the effect allows.
CatalogueEntry entry_of(ExternalEffect effect) {
  CatalogueEntry entry;
  entry.effect = effect;
  entry.captures = effect != ExternalEffect::pure;
  entry.writes_arguments =
      effect == ExternalEffect::irrevocable || effect == ExternalEffect::deferrable;
  return entry;
}

// One line, its first letter small, without a full stop.
std::string as_message(std::string_view text) {
  std::string line;
  for (const char letter : text)
    line += letter == '\n' || letter == '\r' ? ' ' : letter;
  while (!line.empty() && (line.back() == '.' || line.back() == ' '))
    line.pop_back();
  if (line.size() > 1 && std::islower(static_cast<unsigned char>(line[1])) != 0)
    line[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(line[0])));
  return line;
}

// Reads one file. Every method returns the first mistake, with its place.
class Reader {
public:
  explicit Reader(const std::string &place) : place_(place) {}

  Status read(const toml::table &root);
  [[nodiscard]] bool extends_builtin() const { return extends_builtin_; }
  [[nodiscard]] Entries &entries() { return entries_; }

  [[nodiscard]] Error at(const toml::source_position &position, std::string_view message) const {
    return Error{fmt::format("{}:{}:{}: {}", place_, position.line, position.column, message)};
  }

private:
  [[nodiscard]] Error at(const toml::node &node, std::string_view message) const {
    return at(node.source().begin, message);
  }
  [[nodiscard]] Error at(const toml::key &key, std::string_view message) const {
    return at(key.source().begin, message);
  }
  Status read_version(const toml::node *node);
  Status read_extends(const toml::node &node);
  Status read_lists(const toml::node &node);
  Status read_list(const toml::node &node, ExternalEffect effect);
  Status read_details(const toml::node &node);
  Result<CatalogueEntry> read_entry(std::string_view name, const toml::table &table);
  Status check(const CatalogueEntry &entry, std::string_view name, const toml::node &node);
  Status add(std::string_view name, CatalogueEntry entry, const toml::source_position &position);

  const std::string &place_;
  bool extends_builtin_ = true;
  Entries entries_;
};

Status Reader::read_version(const toml::node *node) {
  if (node == nullptr)
    return at(toml::source_position{1, 1}, "the version is missing; write 'version = 1'");
  if (!node->is_integer())
    return at(*node, "version is not a number; write 'version = 1'");
  if (node->as_integer()->get() != kVersion)
    return at(*node, fmt::format("version {} cannot be read; this program reads version {}",
                                 node->as_integer()->get(), kVersion));
  return Unit{};
}

Status Reader::read_extends(const toml::node &node) {
  if (node.is_string() && node.as_string()->get() == "built-in")
    extends_builtin_ = true;
  else if (node.is_string() && node.as_string()->get() == "nothing")
    extends_builtin_ = false;
  else
    return at(node, "extends is neither \"built-in\" nor \"nothing\"");
  return Unit{};
}

Status Reader::add(std::string_view name, CatalogueEntry entry,
                   const toml::source_position &position) {
  if (name.empty())
    return at(position, "a function has an empty name; write its linker name");
  if (!entries_.emplace(name, std::move(entry)).second)
    return at(position, fmt::format("'{}' is listed twice; keep one of its entries", name));
  return Unit{};
}

Status Reader::read_list(const toml::node &node, ExternalEffect effect) {
  if (!node.is_array())
    return at(node, fmt::format("{} is not a list of function names", to_string(effect)));
  for (const toml::node &element : *node.as_array()) {
    if (!element.is_string())
      return at(element, "a function name is not a string; write it in quotes");
    if (Status added = add(element.as_string()->get(), entry_of(effect), element.source().begin);
        !added)
      return added;
  }
  return Unit{};
}

Status Reader::read_lists(const toml::node &node) {
  if (!node.is_table())
    return at(node, "functions is not a table; write [functions] and lists by effect below it");
  for (const auto &[key, value] : *node.as_table()) {
    const std::optional<ExternalEffect> effect = effect_from(key.str());
    if (!effect)
      return at(key, fmt::format("'{}' is not an effect; use {}", key.str(), kEffectNames));
    if (*effect == ExternalEffect::tm_safe)
      return at(key, "tm-safe functions need a replacement each; write them below [function]");
    if (Status read = read_list(value, *effect); !read)
      return read;
  }
  return Unit{};
}

Status Reader::check(const CatalogueEntry &entry, std::string_view name, const toml::node &node) {
  const bool harmless =
      entry.effect == ExternalEffect::pure || entry.effect == ExternalEffect::reads;
  if (entry.writes_arguments && harmless)
    return at(node, fmt::format("'{}' is {} and yet writes its arguments; drop one of the two",
                                name, to_string(entry.effect)));
  if (entry.effect == ExternalEffect::tm_safe && entry.replacement.empty())
    return at(node, fmt::format("'{}' is tm-safe without a replacement; name the symbol of its "
                                "transactional version",
                                name));
  if (entry.effect != ExternalEffect::tm_safe && !entry.replacement.empty())
    return at(node, fmt::format("'{}' has a replacement and is {}; only tm-safe functions have one",
                                name, to_string(entry.effect)));
  return Unit{};
}

Result<CatalogueEntry> Reader::read_entry(std::string_view name, const toml::table &table) {
  const toml::node *effect_node = table.get("effect");
  if (effect_node == nullptr)
    return at(table, fmt::format("'{}' has no effect; use {}", name, kEffectNames));
  const auto *effect_text = effect_node->as_string();
  const std::optional<ExternalEffect> effect =
      effect_text == nullptr ? std::nullopt : effect_from(effect_text->get());
  if (!effect)
    return at(*effect_node, fmt::format("'{}' has an unknown effect; use {}", name, kEffectNames));
  CatalogueEntry entry = entry_of(*effect);
  for (const auto &[key, value] : table) {
    if (key.str() == "replacement") {
      if (!value.is_string() || value.as_string()->get().empty())
        return at(value, "replacement is not the name of a symbol; write it in quotes");
      entry.replacement = value.as_string()->get();
    } else if (key.str() == "writes-arguments" || key.str() == "captures") {
      if (!value.is_boolean())
        return at(value, fmt::format("{} is neither true nor false", key.str()));
      (key.str() == "captures" ? entry.captures : entry.writes_arguments) =
          value.as_boolean()->get();
    } else if (key.str() != "effect") {
      return at(key, fmt::format("unknown key '{}'; use effect, replacement, writes-arguments or "
                                 "captures",
                                 key.str()));
    }
  }
  if (Status good = check(entry, name, table); !good)
    return good.error();
  return entry;
}

Status Reader::read_details(const toml::node &node) {
  if (!node.is_table())
    return at(node, "function is not a table; write [function.NAME] or [function]");
  for (const auto &[key, value] : *node.as_table()) {
    if (!value.is_table())
      return at(value, fmt::format("'{}' is not a table; write {} = {{ effect = \"...\" }}",
                                   key.str(), key.str()));
    Result<CatalogueEntry> entry = read_entry(key.str(), *value.as_table());
    if (!entry)
      return entry.error();
    if (Status added = add(key.str(), std::move(*entry), key.source().begin); !added)
      return added;
  }
  return Unit{};
}

Status Reader::read(const toml::table &root) {
  if (Status version = read_version(root.get("version")); !version)
    return version;
  for (const auto &[key, value] : root) {
    Status read = Unit{};
    if (key.str() == "extends")
      read = read_extends(value);
    else if (key.str() == "functions")
      read = read_lists(value);
    else if (key.str() == "function")
      read = read_details(value);
    else if (key.str() != "version")
      read = at(key, fmt::format("unknown key '{}'; use version, extends, functions or function",
                                 key.str()));
    if (!read)
      return read;
  }
  return Unit{};
}

} // namespace

std::string_view to_string(ExternalEffect effect) {
  switch (effect) {
  case ExternalEffect::pure:
    return "pure";
  case ExternalEffect::thread_local_:
    return "thread-local";
  case ExternalEffect::reads:
    return "reads";
  case ExternalEffect::tm_safe:
    return "tm-safe";
  case ExternalEffect::deferrable:
    return "deferrable";
  case ExternalEffect::irrevocable:
    return "irrevocable";
  }
  CHECK(false, "effect {}", static_cast<int>(effect));
}

Result<Catalogue> Catalogue::parse(std::string_view text, const std::string &place) {
  Reader reader(place);
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed)
    return reader.at(parsed.error().source().begin, as_message(parsed.error().description()));
  if (Status read = reader.read(parsed.table()); !read)
    return read.error();
  Catalogue catalogue;
  catalogue.entries_ = std::move(reader.entries());
  if (reader.extends_builtin()) {
    Result<Catalogue> builtin = load("");
    if (!builtin)
      return builtin.error();
    catalogue.entries_.merge(builtin->entries_); // keeps what the file says about the same name
  }
  return catalogue;
}

Result<Catalogue> Catalogue::load(const std::string &path) {
  const bool papers = path == "papers";
  if (path.empty() || papers) {
    Result<Catalogue> builtin = papers ? parse(kPapersCatalogue, "catalogue-papers.toml")
                                       : parse(kBuiltinCatalogue, "catalogue.toml");
    CHECK(builtin.ok(), "{}", builtin.error().message);
    return builtin;
  }
  const Result<std::string> text = read_file(path);
  if (!text)
    return text.error();
  return parse(*text, path);
}

CatalogueEntry Catalogue::lookup(std::string_view function) const {
  const auto found = entries_.find(function);
  return found == entries_.end() ? entry_of(ExternalEffect::irrevocable) : found->second;
}

} // namespace tandem
