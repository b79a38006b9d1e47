// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/catalogue/catalogue.h"

#include "base/file.h"
#include "base/toml.h"
#include "compiler/catalogue/builtin.h"
#include "compiler/catalogue/entry_reader.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace tandem {
namespace {

using namespace catalogue_file;

using Entries = std::map<std::string, CatalogueEntry, std::less<>>;
using Names = std::set<std::string, std::less<>>;
using Arguments = std::map<std::string, unsigned, std::less<>>;
using Hooks = std::vector<Catalogue::Hook>;

constexpr int kVersion = 1;

// Reads one file. Every method returns the first mistake, with its place.
class Reader {
public:
  explicit Reader(const std::string &place) : place_(place) {}

  Status read(const toml::table &root);
  // After read(): what the file calls unsafe, in the entries that it extends.
  Status make_unsafe(Entries &builtin);
  [[nodiscard]] bool extends_builtin() const { return extends_builtin_; }
  [[nodiscard]] Entries &entries() { return entries_; }
  [[nodiscard]] Names &own_variables() { return own_variables_; }
  [[nodiscard]] Names &allocators() { return allocators_; }
  [[nodiscard]] Arguments &deallocators() { return deallocators_; }
  [[nodiscard]] Hooks &hooks() { return hooks_; }

  [[nodiscard]] Error at(const toml::source_position &position, std::string_view message) const {
    return mistake(place_, position, message);
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
  Status read_names(const toml::node &node, std::string_view list, const CatalogueEntry &entry);
  Status read_details(const toml::node &node);
  Status read_groups(const toml::node &node);
  Status read_variables(const toml::node &node);
  Status read_program(const toml::node &node);
  Status read_hooks(const toml::node &node);
  Status read_allocator(const toml::node &node);
  Status read_deallocator(const toml::node &node);
  Status add(std::string_view name, CatalogueEntry entry, const toml::source_position &position);
  Status read_unsafe(const toml::node &node);

  const std::string &place_;
  bool extends_builtin_ = true;
  Entries entries_;
  Names own_variables_;
  Names allocators_;
  Arguments deallocators_;
  Hooks hooks_;
  std::map<std::string, toml::source_position, std::less<>> unsafe_;
  std::optional<toml::source_position> all_unsafe_; // where "all" stands
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
  if (entry.replacement.ends_with('*')) {
    // By libitm's convention: _ZGTt and the name as C++ mangles it.
    entry.replacement.pop_back();
    entry.replacement += name.starts_with("_Z") ? std::string(name.substr(2))
                                                : fmt::format("{}{}", name.size(), name);
  }
  if (!entries_.emplace(name, std::move(entry)).second)
    return at(position, fmt::format("'{}' is listed twice; keep one of its entries", name));
  return Unit{};
}

Status Reader::read_names(const toml::node &node, std::string_view list,
                          const CatalogueEntry &entry) {
  if (!node.is_array())
    return at(node, fmt::format("{} is not a list of function names", list));
  for (const toml::node &element : *node.as_array()) {
    if (!element.is_string())
      return at(element, "a function name is not a string; write it in quotes");
    if (Status added = add(element.as_string()->get(), entry, element.source().begin); !added)
      return added;
  }
  return Unit{};
}

Status Reader::read_lists(const toml::node &node) {
  if (!node.is_table())
    return at(node, "functions is not a table; write [functions] and lists by effect below it");
  for (const auto &[key, value] : *node.as_table()) {
    if (key.str() == "unsafe") {
      if (Status read = read_unsafe(value); !read)
        return read;
      continue;
    }
    const std::optional<ExternalEffect> effect = effect_from(key.str());
    if (!effect)
      return at(key, fmt::format("'{}' is not an effect; use unsafe, {}", key.str(), kEffectNames));
    if (*effect == ExternalEffect::tm_safe)
      return at(key, "tm-safe functions need a replacement each; write them below [function]");
    if (Status read = read_names(value, key.str(), worst(*effect)); !read)
      return read;
  }
  return Unit{};
}

// Functions that cannot be undone, and else do what the built-in catalogue says.
Status Reader::read_unsafe(const toml::node &node) {
  if (node.is_string() && node.as_string()->get() == "all") {
    all_unsafe_ = node.source().begin;
    return Unit{};
  }
  if (!node.is_array())
    return at(node, "unsafe is neither \"all\" nor a list of function names");
  for (const toml::node &element : *node.as_array()) {
    if (!element.is_string())
      return at(element, "a function name is not a string; write it in quotes");
    if (!unsafe_.emplace(element.as_string()->get(), element.source().begin).second)
      return at(element, fmt::format("'{}' is listed twice; keep one", element.as_string()->get()));
  }
  return Unit{};
}

Status Reader::make_unsafe(Entries &builtin) {
  const auto become = [](CatalogueEntry &entry) {
    entry.effect = ExternalEffect::irrevocable;
    entry.replacement.clear();
  };
  if (!extends_builtin_ && (all_unsafe_ || !unsafe_.empty()))
    return at(all_unsafe_ ? *all_unsafe_ : unsafe_.begin()->second,
              "unsafe keeps what the built-in catalogue says, which this file does not extend; "
              "use irrevocable");
  if (all_unsafe_)
    for (auto &[name, entry] : builtin)
      become(entry);
  for (const auto &[name, position] : unsafe_) {
    const auto found = builtin.find(name);
    if (found == builtin.end())
      return at(position,
                fmt::format("the built-in catalogue has no '{}'; list it in irrevocable", name));
    if (entries_.contains(name))
      return at(position, fmt::format("'{}' is listed twice; keep one of its entries", name));
    become(found->second);
  }
  return Unit{};
}

Status Reader::read_details(const toml::node &node) {
  if (!node.is_table())
    return at(node, "function is not a table; write [function.NAME] or [function]");
  for (const auto &[key, value] : *node.as_table()) {
    if (!value.is_table())
      return at(value, fmt::format("'{}' is not a table; write {} = {{ effect = \"...\" }}",
                                   key.str(), key.str()));
    Result<CatalogueEntry> entry = read_entry(key.str(), *value.as_table(), "", place_);
    if (!entry)
      return entry.error();
    if (Status added = add(key.str(), std::move(*entry), key.source().begin); !added)
      return added;
  }
  return Unit{};
}

// [[group]]: functions that all do the same.
Status Reader::read_groups(const toml::node &node) {
  if (!node.is_array_of_tables())
    return at(node, "group is not a list of tables; write [[group]]");
  for (const toml::node &element : *node.as_array()) {
    const toml::table &table = *element.as_table();
    const toml::node *names = table.get("names");
    if (names == nullptr)
      return at(table, "a group has no names; write names = [\"...\"]");
    const Result<CatalogueEntry> entry = read_entry("group", table, "names", place_);
    if (!entry)
      return entry.error();
    if (Status read = read_names(*names, "names", *entry); !read)
      return read;
  }
  return Unit{};
}

Status Reader::read_variables(const toml::node &node) {
  const toml::table *table = node.as_table();
  const toml::node *own = table == nullptr ? nullptr : table->get("own");
  if (own == nullptr || table->size() != 1 || !own->is_array())
    return at(node, "variables is not a table with a list of variable names, own");
  for (const toml::node &element : *own->as_array()) {
    if (!element.is_string())
      return at(element, "a variable name is not a string; write it in quotes");
    own_variables_.insert(element.as_string()->get());
  }
  return Unit{};
}

// [program]: functions of the program itself that manage memory.
Status Reader::read_program(const toml::node &node) {
  const toml::table *table = node.as_table();
  if (table == nullptr)
    return at(node, "program is not a table; write [program] and its lists below it");
  for (const auto &[key, value] : *table) {
    if (key.str() != "allocators" && key.str() != "deallocators")
      return at(key, fmt::format("unknown key '{}'; use allocators or deallocators", key.str()));
    if (!value.is_array())
      return at(value, fmt::format("{} is not a list", key.str()));
    for (const toml::node &element : *value.as_array())
      if (Status read =
              key.str() == "allocators" ? read_allocator(element) : read_deallocator(element);
          !read)
        return read;
  }
  return Unit{};
}

Status Reader::read_allocator(const toml::node &node) {
  if (!node.is_string())
    return at(node, "an allocator is not a string; write its name in quotes");
  allocators_.insert(node.as_string()->get());
  return Unit{};
}

Status Reader::read_deallocator(const toml::node &node) {
  const toml::table *table = node.as_table();
  const toml::node *name = table == nullptr ? nullptr : table->get("name");
  const toml::node *argument = table == nullptr ? nullptr : table->get("argument");
  if (name == nullptr || argument == nullptr || table->size() != 2 || !name->is_string() ||
      !argument->is_integer() || argument->as_integer()->get() < 0)
    return at(node, "a deallocator is not { name = \"...\", argument = N }, N from 0");
  deallocators_[name->as_string()->get()] = static_cast<unsigned>(argument->as_integer()->get());
  return Unit{};
}

// [[hook]]: functions of the program that a library runs from many of its functions.
Status Reader::read_hooks(const toml::node &node) {
  if (!node.is_array_of_tables())
    return at(node, "hook is not a list of tables; write [[hook]]");
  for (const toml::node &element : *node.as_array()) {
    Catalogue::Hook hook;
    for (const auto &[key, value] : *element.as_table()) {
      const bool installs = key.str() == "installed-by";
      if (!installs && key.str() != "run-by")
        return at(key, fmt::format("unknown key '{}'; use installed-by and run-by", key.str()));
      if (!value.is_array())
        return at(value, fmt::format("{} is not a list of names", key.str()));
      for (const toml::node &name : *value.as_array()) {
        if (!name.is_string())
          return at(name, "a name is not a string; write it in quotes");
        (installs ? hook.installed_by : hook.run_by).push_back(name.as_string()->get());
      }
    }
    if (hook.installed_by.empty() || hook.run_by.empty())
      return at(element, "a hook has no installed-by or no run-by; name the functions of both");
    hooks_.push_back(std::move(hook));
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
    else if (key.str() == "group")
      read = read_groups(value);
    else if (key.str() == "variables")
      read = read_variables(value);
    else if (key.str() == "program")
      read = read_program(value);
    else if (key.str() == "hook")
      read = read_hooks(value);
    else if (key.str() != "version")
      read = at(key, fmt::format("unknown key '{}'; use version, extends, functions, function, "
                                 "group, variables, program or hook",
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
  const Result<toml::table> parsed = parse_toml(text, place);
  if (!parsed)
    return parsed.error();
  if (Status read = reader.read(*parsed); !read)
    return read.error();
  Catalogue builtin;
  if (reader.extends_builtin()) {
    Result<Catalogue> loaded = load("");
    if (!loaded)
      return loaded.error();
    builtin = std::move(*loaded);
  }
  if (Status unsafe = reader.make_unsafe(builtin.entries_); !unsafe)
    return unsafe.error();
  Catalogue catalogue;
  catalogue.entries_ = std::move(reader.entries());
  catalogue.own_variables_ = std::move(reader.own_variables());
  catalogue.allocators_ = std::move(reader.allocators());
  catalogue.deallocators_ = std::move(reader.deallocators());
  catalogue.hooks_ = std::move(reader.hooks());
  catalogue.entries_.merge(builtin.entries_); // keeps what the file says about the same name
  catalogue.own_variables_.merge(builtin.own_variables_);
  std::ranges::move(builtin.hooks_, std::back_inserter(catalogue.hooks_));
  return catalogue;
}

Result<Catalogue> Catalogue::load(const std::string &path) {
  const auto builtin = [](const char *text, const char *place) {
    Result<Catalogue> catalogue = parse(text, place);
    CHECK(catalogue.ok(), "{}", catalogue.error().message);
    return catalogue;
  };
  if (path.empty())
    return builtin(kBuiltinCatalogue, "catalogue.toml");
  if (path == "papers")
    return builtin(kPapersCatalogue, "catalogue-papers.toml");
  if (path == "deferred-output")
    return builtin(kDeferredOutputCatalogue, "catalogue-deferred-output.toml");
  const Result<std::string> text = read_file(path, kMostTomlBytes);
  if (!text)
    return text.error();
  return parse(*text, path);
}

namespace {

// It runs code of the program that may do anything.
void runs_program(CatalogueEntry &entry) {
  entry.effect = ExternalEffect::irrevocable;
  entry.replacement.clear();
  entry.touches_anything = true;
}

// Whether the library's function allocates memory, or gives it back. What is irrevocable may do so
// behind the scenes: streams have buffers.
bool uses_heap(std::string_view name, const CatalogueEntry &entry) {
  const auto is_fresh = [](const PointerSource &one) { return one.value == PointerValue::fresh; };
  return entry.effect == ExternalEffect::irrevocable ||
         entry.effect == ExternalEffect::deferrable || name.starts_with("_Zn") ||
         name.starts_with("_Zd") || name.starts_with("qsort") || is_fresh(entry.returns) ||
         std::ranges::any_of(entry.returns_also, is_fresh) ||
         std::ranges::any_of(entry.stores,
                             [&](const StoredPointer &one) { return is_fresh(one.what); });
}

} // namespace

void Catalogue::allocates_by_program() {
  for (auto &[name, entry] : entries_)
    if (uses_heap(name, entry) && name != kInlineAssembly && name != kAtomicOperation)
      runs_program(entry);
}

void Catalogue::enable_hooks(const std::function<bool(std::string_view)> &uses) {
  for (const Hook &hook : hooks_) {
    if (std::ranges::none_of(hook.installed_by, uses))
      continue;
    for (const std::string &name : hook.run_by)
      if (const auto found = entries_.find(name); found != entries_.end()) {
        runs_program(found->second);
      }
  }
}

CatalogueEntry Catalogue::lookup(std::string_view function) const {
  const auto found = entries_.find(function);
  return found == entries_.end() ? worst(ExternalEffect::irrevocable) : found->second;
}

} // namespace tandem
