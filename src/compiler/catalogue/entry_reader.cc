// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/catalogue/entry_reader.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tandem::catalogue_file {
namespace {

constexpr std::array kEffects = {ExternalEffect::pure,       ExternalEffect::thread_local_,
                                 ExternalEffect::reads,      ExternalEffect::tm_safe,
                                 ExternalEffect::deferrable, ExternalEffect::irrevocable};
constexpr const char *kKeyNames =
    "effect, replacement, exact, writes, reads, captures, follows, stores, copies, prints, scans, "
    "returns, callbacks, own, writes-own, own-per-thread, replaces or touches-anything";
constexpr const char *kValueNames =
    "\"anything\", \"nothing\", \"fresh\", \"own\", { argument = N }, { same = N } or "
    "{ loaded = N }";
constexpr std::int64_t kLastArgument = 63;
constexpr int kMostLoads = 3; // of a place within a place

// The text of a string; empty for all else. Lives as long as the node.
std::string_view text_of(const toml::node &node) {
  const auto *text = node.as_string();
  return text == nullptr ? std::string_view{} : std::string_view{text->get()};
}

// A function that does nothing.
CatalogueEntry nothing(ExternalEffect effect) {
  CatalogueEntry entry;
  entry.effect = effect;
  entry.writes = entry.reads = entry.captures = entry.follows = ArgumentSet::none();
  entry.stores_anything = false;
  entry.returns = {PointerValue::nothing, 0};
  entry.touches_anything = false;
  return entry;
}

class EntryReader {
public:
  EntryReader(std::string_view name, const std::string &place) : name_(name), place_(place) {}

  Result<CatalogueEntry> read(const toml::table &table, std::string_view ignored);

private:
  [[nodiscard]] Error at(const toml::node &node, std::string_view message) const {
    return mistake(place_, node.source().begin, message);
  }
  Status read_key(const toml::key &key, const toml::node &value);
  Result<bool> read_flag(std::string_view key, const toml::node &value) const;
  Result<ArgumentSet> read_arguments(std::string_view key, const toml::node &value) const;
  Result<int> read_argument(const toml::node &value) const;
  Result<int> read_place(const toml::node &value) const;
  Result<PointerSource> read_source(const toml::node &value) const;
  Status read_stores(const toml::node &value);
  Status read_stored(const toml::node &value);
  struct Place {
    int where = 0;
    int loads = 0; // so many times what a pointer there points to
  };
  Result<Place> read_deep_place(const toml::node &value) const;
  Status read_copied(const toml::node &value);
  Status read_formatted(std::string_view key, const toml::node &value);
  Status read_callback(const toml::node &value);
  Status read_callback_key(const toml::key &key, const toml::node &value, Callback &callback) const;
  Status check_callback(const toml::table &table, const Callback &callback) const;
  Result<int> read_parameter(const toml::node &value) const;
  Status check(const toml::node &node) const;
  Status check_arguments(const toml::node &node) const;

  // Reads `value` with `read`: each element where it is a list, else itself.
  template <typename Read> Status each(const toml::node &value, Read read) {
    if (!value.is_array())
      return read(value);
    for (const toml::node &element : *value.as_array())
      if (Status good = read(element); !good)
        return good;
    return Unit{};
  }
  template <typename Value> static Status assign(Value &target, Result<Value> value) {
    if (!value)
      return value.error();
    target = std::move(*value);
    return Unit{};
  }

  std::string_view name_;
  const std::string &place_;
  CatalogueEntry entry_;
};

Result<bool> EntryReader::read_flag(std::string_view key, const toml::node &value) const {
  if (!value.is_boolean())
    return at(value, fmt::format("{} is neither true nor false", key));
  return value.as_boolean()->get();
}

Result<int> EntryReader::read_argument(const toml::node &value) const {
  if (!value.is_integer() || value.as_integer()->get() < 0 ||
      value.as_integer()->get() > kLastArgument)
    return at(value, fmt::format("an argument is not a number from 0 to {}", kLastArgument));
  return static_cast<int>(value.as_integer()->get());
}

// "all", "none", a boolean, or a list of numbers and "N..".
Result<ArgumentSet> EntryReader::read_arguments(std::string_view key,
                                                const toml::node &value) const {
  const std::string_view text = text_of(value);
  if (text == "all" || (value.is_boolean() && value.as_boolean()->get()))
    return ArgumentSet::all();
  if (text == "none" || value.is_boolean())
    return ArgumentSet::none();
  if (!value.is_array())
    return at(value, fmt::format("{} is neither \"all\", \"none\" nor a list of arguments like "
                                 "[0, \"2..\"]",
                                 key));
  ArgumentSet arguments = ArgumentSet::none();
  for (const toml::node &element : *value.as_array()) {
    const std::string range(text_of(element));
    if (range.size() > 2 && range.size() < 5 && range.ends_with("..") &&
        range.find_first_not_of("0123456789") == range.size() - 2 && std::stoi(range) < 63) {
      arguments.bits |= ~std::uint64_t{0} << static_cast<unsigned>(std::stoi(range));
      continue;
    }
    const Result<int> argument = read_argument(element);
    if (!argument)
      return argument.error();
    arguments.bits |= std::uint64_t{1} << static_cast<unsigned>(*argument);
  }
  return arguments;
}

Result<int> EntryReader::read_place(const toml::node &value) const {
  if (value.is_string() && value.as_string()->get() == "result")
    return kResult;
  if (value.is_string() && value.as_string()->get() == "own")
    return kOwn;
  if (value.is_string() && value.as_string()->get() == "outside")
    return kChannel;
  if (value.is_string())
    return at(value, "a place is neither an argument's number, \"result\", \"own\" nor "
                     "\"outside\"");
  return read_argument(value);
}

// A place, or { loaded = PLACE }.
Result<EntryReader::Place> EntryReader::read_deep_place(const toml::node &value) const {
  const toml::table *table = value.as_table();
  const toml::node *inner = table == nullptr ? nullptr : table->get("loaded");
  if (inner == nullptr) {
    const Result<int> place = read_place(value);
    if (!place)
      return place.error();
    return Place{*place, 0};
  }
  Result<Place> place = read_deep_place(*inner);
  if (!place)
    return place;
  if (table->size() != 1 || place->where == kChannel || place->loads == kMostLoads)
    return at(value, "a place is not like { loaded = 1 }");
  return Place{place->where, place->loads + 1};
}

Result<PointerSource> EntryReader::read_source(const toml::node &value) const {
  constexpr std::array kWords = {
      std::pair{"anything", PointerValue::anything}, std::pair{"nothing", PointerValue::nothing},
      std::pair{"fresh", PointerValue::fresh}, std::pair{"own", PointerValue::own}};
  if (value.is_string())
    for (const auto &[word, meaning] : kWords)
      if (value.as_string()->get() == word)
        return PointerSource{meaning, 0};
  const toml::table *table = value.as_table();
  if (table == nullptr || table->size() != 1)
    return at(value, fmt::format("a pointer is not one of {}", kValueNames));
  const auto first = table->begin(); // holds what it points to
  const auto &[key, of] = *first;
  constexpr std::array kPlaces = {std::pair{"argument", PointerValue::argument},
                                  std::pair{"same", PointerValue::same},
                                  std::pair{"loaded", PointerValue::loaded}};
  for (const auto &[word, meaning] : kPlaces) {
    if (key.str() != word)
      continue;
    const Result<int> place = meaning == PointerValue::loaded ? read_place(of) : read_argument(of);
    if (!place)
      return place.error();
    return PointerSource{meaning, *place};
  }
  return at(value, fmt::format("a pointer is not one of {}", kValueNames));
}

Status EntryReader::read_stored(const toml::node &value) {
  const toml::table *table = value.as_table();
  const toml::node *to = table == nullptr ? nullptr : table->get("to");
  const toml::node *what = table == nullptr ? nullptr : table->get("what");
  if (to == nullptr || what == nullptr || table->size() != 2)
    return at(
        value,
        "stores is neither \"anything\", \"none\" nor made of { to = PLACE, what = POINTER }");
  const Result<int> place = read_place(*to);
  if (!place)
    return place.error();
  const Result<PointerSource> source = read_source(*what);
  if (!source)
    return source.error();
  entry_.stores.push_back({*place, *source});
  return Unit{};
}

Status EntryReader::read_stores(const toml::node &value) {
  const std::string_view text = text_of(value);
  entry_.stores_anything = text == "anything";
  if (text == "anything" || text == "none")
    return Unit{};
  return each(value, [&](const toml::node &stored) { return read_stored(stored); });
}

Status EntryReader::read_copied(const toml::node &value) {
  const toml::table *table = value.as_table();
  const toml::node *to = table == nullptr ? nullptr : table->get("to");
  const toml::node *from = table == nullptr ? nullptr : table->get("from");
  const toml::node *size = table == nullptr ? nullptr : table->get("size");
  const toml::node *text = table == nullptr ? nullptr : table->get("text");
  if (to == nullptr || from == nullptr ||
      table->size() != 2U + (size == nullptr ? 0 : 1) + (text == nullptr ? 0 : 1))
    return at(value, "copies is not made of { to = PLACE, from = PLACE }");
  const Result<Place> target = read_deep_place(*to);
  if (!target)
    return target.error();
  const Result<Place> source = read_deep_place(*from);
  if (!source)
    return source.error();
  CopiedMemory copied{.to = target->where,
                      .from = source->where,
                      .to_loads = target->loads,
                      .from_loads = source->loads};
  if (size != nullptr)
    if (Status good = assign(copied.size, read_argument(*size)); !good)
      return good;
  if (text != nullptr)
    if (Status good = assign(copied.text, read_flag("text", *text)); !good)
      return good;
  entry_.copies.push_back(copied);
  return Unit{};
}

// prints: { to = PLACE, format = N }, scans: { from = PLACE, format = N }; with a va_list behind
// the format, list = true.
Status EntryReader::read_formatted(std::string_view key, const toml::node &value) {
  const bool prints = key == "prints";
  const toml::table *table = value.as_table();
  const toml::node *text = table == nullptr ? nullptr : table->get(prints ? "to" : "from");
  const toml::node *format = table == nullptr ? nullptr : table->get("format");
  const toml::node *list = table == nullptr ? nullptr : table->get("list");
  if (text == nullptr || format == nullptr || table->size() != (list == nullptr ? 2 : 3))
    return at(value, fmt::format("{} is not made of {{ {} = PLACE, format = N }}", key,
                                 prints ? "to" : "from"));
  FormattedText formatted;
  const Result<Place> place = read_deep_place(*text);
  if (!place)
    return place.error();
  formatted.text = place->where;
  formatted.text_loads = place->loads;
  if (Status good = assign(formatted.format, read_argument(*format)); !good)
    return good;
  if (list != nullptr)
    if (Status good = assign(formatted.list, read_flag("list", *list)); !good)
      return good;
  (prints ? entry_.prints : entry_.scans).push_back(formatted);
  return Unit{};
}

Result<int> EntryReader::read_parameter(const toml::node &value) const {
  const std::string_view text = text_of(value);
  if (text == "nothing")
    return Callback::kNothing;
  if (text == "anything")
    return Callback::kAnything;
  if (text == "own")
    return Callback::kOwnContent;
  if (text == "found")
    return Callback::kFound;
  if (text == "object")
    return Callback::kObject;
  if (value.is_string())
    return at(value, "a parameter is neither an argument's number, \"nothing\", \"anything\", "
                     "\"own\", \"found\" nor \"object\"");
  return read_argument(value);
}

Status EntryReader::read_callback_key(const toml::key &key, const toml::node &value,
                                      Callback &callback) const {
  if (key.str() == "function") {
    if (text_of(value) == "own") {
      callback.function = kOwn;
      return Unit{};
    }
    return assign(callback.function, read_argument(value));
  }
  if (key.str() == "when") {
    constexpr std::array kWhen = {
        std::pair{"now", Callback::When::now}, std::pair{"later", Callback::When::later},
        std::pair{"exit", Callback::When::exit}, std::pair{"thread", Callback::When::thread},
        std::pair{"signal", Callback::When::signal}};
    for (const auto &[word, when] : kWhen)
      if (value.is_string() && value.as_string()->get() == word) {
        callback.when = when;
        return Unit{};
      }
    return at(value, "when is neither \"now\", \"later\", \"exit\", \"thread\" nor \"signal\"");
  }
  if (key.str() == "inside")
    return assign(callback.inside, read_flag(key.str(), value));
  if (key.str() == "in-memory")
    return assign(callback.in_memory, read_flag(key.str(), value));
  if (key.str() != "gets")
    return mistake(
        place_, key.source().begin,
        fmt::format("unknown key '{}'; use function, when, gets, inside or in-memory", key.str()));
  if (!value.is_array())
    return at(value, "gets is not a list with what each parameter is");
  for (const toml::node &element : *value.as_array()) {
    const Result<int> parameter = read_parameter(element);
    if (!parameter)
      return parameter.error();
    callback.gets.push_back(*parameter);
  }
  return Unit{};
}

Status EntryReader::read_callback(const toml::node &value) {
  const toml::table *table = value.as_table();
  if (table == nullptr || !table->contains("function") || !table->contains("when"))
    return at(value, "a callback is not like { function = 2, when = \"now\", gets = [3] }");
  Callback callback;
  for (const auto &[key, detail] : *table)
    if (Status good = read_callback_key(key, detail, callback); !good)
      return good;
  if (Status good = check_callback(*table, callback); !good)
    return good;
  entry_.callbacks.push_back(std::move(callback));
  return Unit{};
}

// What is found must be looked for, a virtual function has one object, and only arguments have an
// inside.
Status EntryReader::check_callback(const toml::table &table, const Callback &callback) const {
  const auto count = [&](const auto &is) {
    return std::count_if(callback.gets.begin(), callback.gets.end(), is);
  };
  const auto objects = count([](int source) { return source == Callback::kObject; });
  const bool searches = callback.in_memory || callback.function == kOwn;
  if (!searches && objects + count([](int source) { return source == Callback::kFound; }) != 0)
    return at(*table.get("gets"), "gets has \"found\" or \"object\", and function is none that "
                                  "is looked for; add in-memory = true, or name another parameter");
  if (objects > 1)
    return at(*table.get("gets"), "gets has \"object\" twice; a virtual function has one object");
  if (callback.inside && count([](int source) { return source >= 0; }) == 0)
    return at(*table.get("inside"), "inside is about arguments in gets, and there are none");
  return Unit{};
}

Status EntryReader::read_key(const toml::key &key, const toml::node &value) {
  constexpr std::array kSets = {std::pair{"writes", &CatalogueEntry::writes},
                                std::pair{"reads", &CatalogueEntry::reads},
                                std::pair{"captures", &CatalogueEntry::captures},
                                std::pair{"follows", &CatalogueEntry::follows},
                                std::pair{"replaces", &CatalogueEntry::replaces}};
  constexpr std::array kFlags = {std::pair{"writes-own", &CatalogueEntry::writes_own},
                                 std::pair{"own-per-thread", &CatalogueEntry::own_per_thread},
                                 std::pair{"touches-anything", &CatalogueEntry::touches_anything}};
  for (const auto &[word, member] : kSets)
    if (key.str() == word)
      return assign(entry_.*member, read_arguments(word, value));
  for (const auto &[word, member] : kFlags)
    if (key.str() == word)
      return assign(entry_.*member, read_flag(word, value));
  if (key.str() == "replacement" || key.str() == "own") {
    const bool replacement = key.str() == "replacement";
    if (!value.is_string() || value.as_string()->get().empty())
      return at(value, fmt::format("{} is not the name of {}; write it in quotes", key.str(),
                                   replacement ? "a symbol" : "the library's memory"));
    (replacement ? entry_.replacement : entry_.own) = value.as_string()->get();
    return Unit{};
  }
  if (key.str() == "stores")
    return read_stores(value);
  if (key.str() == "copies")
    return each(value, [&](const toml::node &copied) { return read_copied(copied); });
  if (key.str() == "prints" || key.str() == "scans")
    return each(value, [&](const toml::node &text) { return read_formatted(key.str(), text); });
  if (key.str() == "returns") {
    entry_.returns_also.clear();
    bool first = true;
    return each(value, [&](const toml::node &one) -> Status {
      const Result<PointerSource> source = read_source(one);
      if (!source)
        return source.error();
      if (std::exchange(first, false))
        entry_.returns = *source;
      else
        entry_.returns_also.push_back(*source);
      return Unit{};
    });
  }
  if (key.str() == "callbacks")
    return each(value, [&](const toml::node &callback) { return read_callback(callback); });
  return mistake(place_, key.source().begin,
                 fmt::format("unknown key '{}'; use {}", key.str(), kKeyNames));
}

// What is stored must lie in what is written, what is loaded in what is read.
Status EntryReader::check_arguments(const toml::node &node) const {
  const auto missing = [&](int place, const char *verb, const char *key) {
    return at(node,
              fmt::format("'{}' {} argument {}, which {} does not have", name_, verb, place, key));
  };
  const auto lacks = [](int place, const ArgumentSet &set) {
    return place >= 0 && !set.contains(static_cast<unsigned>(place));
  };
  for (const StoredPointer &stored : entry_.stores) {
    if (lacks(stored.to, entry_.writes))
      return missing(stored.to, "stores in", "writes");
    if (stored.what.value == PointerValue::loaded && lacks(stored.what.of, entry_.reads))
      return missing(stored.what.of, "loads from", "reads");
  }
  for (const CopiedMemory &copied : entry_.copies) {
    if (lacks(copied.to, copied.to_loads == 0 ? entry_.writes : entry_.reads) &&
        lacks(copied.to, entry_.writes))
      return missing(copied.to, "copies to", "writes");
    if (lacks(copied.from, entry_.reads))
      return missing(copied.from, "copies from", "reads");
  }
  for (const FormattedText &printed : entry_.prints) {
    if (lacks(printed.text, entry_.writes))
      return missing(printed.text, "prints to", "writes");
    if (lacks(printed.format, entry_.reads))
      return missing(printed.format, "prints by", "reads");
  }
  for (const FormattedText &scanned : entry_.scans) {
    if (lacks(scanned.text, entry_.reads))
      return missing(scanned.text, "scans", "reads");
    if (lacks(scanned.format, entry_.reads))
      return missing(scanned.format, "scans by", "reads");
  }
  for (const Callback &callback : entry_.callbacks)
    if (callback.in_memory && lacks(callback.function, entry_.reads))
      return missing(callback.function, "looks for functions in", "reads");
  if (entry_.returns.value == PointerValue::loaded && lacks(entry_.returns.of, entry_.reads))
    return missing(entry_.returns.of, "loads from", "reads");
  return Unit{};
}

Status EntryReader::check(const toml::node &node) const {
  const bool harmless =
      entry_.effect == ExternalEffect::pure || entry_.effect == ExternalEffect::reads;
  if (harmless && (!entry_.writes.empty() || entry_.writes_own || entry_.stores_anything))
    return at(node, fmt::format("'{}' is {} and yet writes; drop one of the two", name_,
                                to_string(entry_.effect)));
  if (entry_.effect == ExternalEffect::pure && !entry_.reads.empty())
    return at(node, fmt::format("'{}' is pure and yet reads; drop one of the two", name_));
  const bool safe = entry_.effect == ExternalEffect::tm_safe;
  if (safe && entry_.replacement.empty())
    return at(node, fmt::format("'{}' is tm-safe without a replacement; name the symbol of its "
                                "transactional version",
                                name_));
  if (!safe && entry_.effect != ExternalEffect::deferrable && !entry_.replacement.empty())
    return at(node, fmt::format("'{}' has a replacement and is {}; only tm-safe and deferrable "
                                "functions have one",
                                name_, to_string(entry_.effect)));
  return check_arguments(node);
}

Result<CatalogueEntry> EntryReader::read(const toml::table &table, std::string_view ignored) {
  const toml::node *effect_node = table.get("effect");
  if (effect_node == nullptr)
    return at(table, fmt::format("'{}' has no effect; use {}", name_, kEffectNames));
  const auto *effect_text = effect_node->as_string();
  const std::optional<ExternalEffect> effect =
      effect_text == nullptr ? std::nullopt : effect_from(effect_text->get());
  if (!effect)
    return at(*effect_node, fmt::format("'{}' has an unknown effect; use {}", name_, kEffectNames));
  bool exact = false;
  if (const toml::node *node = table.get("exact"); node != nullptr)
    if (Status good = assign(exact, read_flag("exact", *node)); !good)
      return good.error();
  entry_ = exact ? nothing(*effect) : worst(*effect);
  for (const auto &[key, value] : table)
    if (key.str() != "effect" && key.str() != "exact" && key.str() != ignored)
      if (Status good = read_key(key, value); !good)
        return good.error();
  if (Status good = check(table); !good)
    return good.error();
  return std::move(entry_);
}

} // namespace

std::optional<ExternalEffect> effect_from(std::string_view text) {
  for (const ExternalEffect effect : kEffects)
    if (text == to_string(effect))
      return effect;
  return std::nullopt;
}

Error mistake(const std::string &place, const toml::source_position &position,
              std::string_view message) {
  return Error{fmt::format("{}:{}:{}: {}", place, position.line, position.column, message)};
}

CatalogueEntry worst(ExternalEffect effect) {
  CatalogueEntry entry;
  entry.effect = effect;
  if (effect == ExternalEffect::pure)
    return nothing(effect);
  if (effect == ExternalEffect::reads || effect == ExternalEffect::thread_local_) {
    entry.writes = ArgumentSet::none();
    entry.stores_anything = false;
    entry.touches_anything = false;
  }
  return entry;
}

Result<CatalogueEntry> read_entry(std::string_view name, const toml::table &table,
                                  std::string_view ignored, const std::string &place) {
  return EntryReader(name, place).read(table, ignored);
}

} // namespace tandem::catalogue_file
