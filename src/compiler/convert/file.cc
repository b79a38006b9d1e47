// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/convert/file.h"

#include "base/toml.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>

namespace tandem {
namespace {

constexpr std::int64_t kVersion = 1;

class Reader {
public:
  explicit Reader(const std::string &path) { file_.path = path; }

  Result<ConversionFile> read(const toml::table &root) {
    const toml::node *version = root.get("version");
    if (version == nullptr)
      return Error{fmt::format("{}: has no version; write version = {}", file_.path, kVersion)};
    if (version->value<std::int64_t>() != kVersion)
      return at(*version, fmt::format("is not version {}, the one that is known", kVersion));
    for (const auto &[key, value] : root)
      if (Status read = entry(key, value); !read)
        return read.error();
    if (file_.sections.empty())
      return Error{fmt::format("{}: makes no lock a section; add [[section]]", file_.path)};
    for (const ConversionFile::LockRegion &region : file_.lock_regions)
      for (const ConversionFile::Locks &locks : file_.sections)
        if (locks.as_word &&
            std::find(locks.names.begin(), locks.names.end(), region.lock) != locks.names.end())
          return Error{fmt::format("{}:{}: lock '{}' becomes a word, of which no region is a "
                                   "section; leave [[lock-region]] or as out",
                                   file_.path, region.line, region.lock)};
    return std::move(file_);
  }

private:
  template <typename Place> Error at(const Place &place, std::string_view message) const {
    const toml::source_position begin = place.source().begin;
    return Error{fmt::format("{}:{}:{}: {}", file_.path, begin.line, begin.column, message)};
  }

  // A name's present spelling. Earlier ones are read by this version of the format, with a warning.
  std::string_view spelling(const toml::key &key) {
    static const std::map<std::string_view, std::string_view> earlier{
        {"gate", "lock"}, {"real-region", "lock-region"}, {"apart", "guarded-by"}};
    const auto found = earlier.find(key.str());
    if (found == earlier.end())
      return key.str();
    file_.warnings.push_back(
        at(key, fmt::format("'{}' is now '{}'; write that", found->first, found->second)).message);
    return found->second;
  }

  Status entry(const toml::key &key, const toml::node &value) {
    const std::string_view name = spelling(key);
    if (name == "version")
      return Unit{};
    if (name == "programs")
      return strings(value, name, file_.programs);
    if (name == "refused-stay-locks")
      return truth(value, name, file_.refused_stay_locks);
    if (name != "section" && name != "lock" && name != "balanced" && name != "lock-region")
      return at(key, fmt::format("'{}' is not known; use version, programs, refused-stay-locks, "
                                 "[[section]], [[lock]], [[balanced]] or [[lock-region]]",
                                 name));
    const toml::array *tables = value.as_array();
    if (tables == nullptr || !tables->is_homogeneous<toml::table>())
      return at(key, fmt::format("'{0}' is not a list of tables; write [[{0}]]", name));
    for (const toml::node &element : *tables)
      if (Status read = entry(name, *element.as_table()); !read)
        return read;
    return Unit{};
  }

  Status entry(std::string_view name, const toml::table &table) {
    if (name == "balanced")
      return balanced(table);
    if (name == "lock-region")
      return lock_region(table);
    return name == "section" ? locks(table, file_.sections, true)
                             : locks(table, file_.kept_locks, false);
  }

  Status locks(const toml::table &table, std::vector<ConversionFile::Locks> &into, bool section) {
    ConversionFile::Locks locks;
    locks.line = table.source().begin.line;
    for (const auto &[key, value] : table) {
      Status read = Unit{};
      const std::string_view name = section ? spelling(key) : key.str();
      if (name == "locks")
        read = strings(value, "locks", locks.names);
      else if (name == "reason")
        read = text(value, name, locks.reason);
      else if (section && name == "guarded-by")
        read = truth(value, name, locks.guarded_by);
      else if (section && name == "as")
        read = word(value, locks.as_word);
      else
        return at(key,
                  fmt::format("'{}' is not known here; use {}", key.str(),
                              section ? "locks, reason, guarded-by and as" : "locks and reason"));
      if (!read)
        return read;
    }
    if (locks.names.empty())
      return at(table, "names no lock; add locks = [\"...\"]");
    if (locks.reason.empty())
      return at(table, "has no reason; add reason = \"...\"");
    if (locks.as_word && locks.guarded_by)
      return at(table, "a lock that is a word has no sections whose data it guards; "
                       "leave guarded-by or as out");
    for (const std::string &name : locks.names)
      if (const auto [first, fresh] = seen_.emplace(name, locks.line); !fresh)
        return Error{fmt::format("{}:{}: lock '{}' is named in line {} already", file_.path,
                                 std::max(first->second, locks.line), name,
                                 std::min(first->second, locks.line))};
    into.push_back(std::move(locks));
    return Unit{};
  }

  Status balanced(const toml::table &table) {
    ConversionFile::Balanced balanced;
    balanced.line = table.source().begin.line;
    for (const auto &[key, value] : table) {
      Status read = Unit{};
      if (key.str() == "function")
        read = text(value, "function", balanced.function);
      else if (key.str() == "reason")
        read = text(value, "reason", balanced.reason);
      else if (key.str() == "waits-outside")
        read = truth(value, "waits-outside", balanced.waits_outside);
      else
        return at(key, fmt::format("'{}' is not known here; use function, reason and waits-outside",
                                   key.str()));
      if (!read)
        return read;
    }
    if (balanced.function.empty() || balanced.reason.empty())
      return at(table, "needs function = \"...\" and reason = \"...\"");
    file_.balanced.push_back(std::move(balanced));
    return Unit{};
  }

  Status lock_region(const toml::table &table) {
    ConversionFile::LockRegion region;
    region.line = table.source().begin.line;
    const std::map<std::string_view, std::string *> known{
        {"function", &region.function}, {"lock", &region.lock}, {"reason", &region.reason}};
    for (const auto &[key, value] : table) {
      const auto found = known.find(key.str());
      if (found == known.end() && key.str() != "outermost")
        return at(key,
                  fmt::format("'{}' is not known here; use function, lock, reason and outermost",
                              key.str()));
      if (Status read = found == known.end() ? truth(value, "outermost", region.outermost)
                                             : text(value, key.str(), *found->second);
          !read)
        return read;
    }
    if (region.function.empty() || region.lock.empty() || region.reason.empty())
      return at(table, "needs function = \"...\", lock = \"...\" and reason = \"...\"");
    file_.lock_regions.push_back(std::move(region));
    return Unit{};
  }

  Status text(const toml::node &value, std::string_view key, std::string &into) const {
    const auto *string = value.as_string();
    if (string == nullptr || string->get().empty())
      return at(value, fmt::format("{} is not a text", key));
    into = string->get();
    return Unit{};
  }

  Status word(const toml::node &value, bool &into) const {
    const auto *string = value.as_string();
    if (string == nullptr || string->get() != "word")
      return at(value, "as is not \"word\", all that a lock can become but sections");
    into = true;
    return Unit{};
  }

  Status truth(const toml::node &value, std::string_view key, bool &into) const {
    const auto *boolean = value.as_boolean();
    if (boolean == nullptr)
      return at(value, fmt::format("{} is neither true nor false", key));
    into = boolean->get();
    return Unit{};
  }

  Status strings(const toml::node &value, std::string_view key,
                 std::vector<std::string> &into) const {
    const toml::array *list = value.as_array();
    if (list == nullptr)
      return at(value, fmt::format("{} is not a list of texts", key));
    for (const toml::node &element : *list) {
      std::string name;
      if (Status read = text(element, key, name); !read)
        return read;
      into.push_back(std::move(name));
    }
    return Unit{};
  }

  ConversionFile file_;
  std::map<std::string, unsigned> seen_; // lock to line
};

// `c->thread->stats.mutex` as `c.thread.stats.mutex`, `Queue::mutex_` as `Queue.mutex_`.
std::string with_dots(std::string_view path) {
  std::string dots;
  for (std::size_t i = 0; i < path.size(); ++i)
    if (path.substr(i).starts_with("->") || path.substr(i).starts_with("::")) {
      dots += '.';
      ++i;
    } else {
      dots += path[i];
    }
  return dots;
}

} // namespace

bool ConversionFile::applies_to(std::string_view output) const {
  const std::string_view name = output.substr(output.rfind('/') + 1); // npos + 1 == 0
  return programs.empty() || std::find(programs.begin(), programs.end(), name) != programs.end();
}

bool ConversionFile::keep_lock(std::string_view refusal) {
  if (sections.empty())
    return false;
  auto found = sections.end();
  // Where a quoted name begins: the mark in "its caller's" is none.
  const auto next_quote = [&](std::size_t from) {
    std::size_t at = refusal.find('\'', from);
    while (at != std::string_view::npos && at > 0 &&
           std::isalnum(static_cast<unsigned char>(refusal[at - 1])) != 0)
      at = refusal.find('\'', at + 1);
    return at;
  };
  for (std::size_t begin = next_quote(0); begin != std::string_view::npos;) {
    const std::size_t end = refusal.find('\'', begin + 1);
    if (end == std::string_view::npos || found != sections.end())
      break;
    const std::string_view quoted = refusal.substr(begin + 1, end - begin - 1);
    found = std::find_if(sections.begin(), sections.end(), [&](const Locks &locks) {
      return std::any_of(locks.names.begin(), locks.names.end(),
                         [&](const std::string &name) { return names_lock(name, quoted); });
    });
    begin = next_quote(end + 1);
  }
  if (found != sections.end()) {
    kept_locks.push_back(std::move(*found));
    sections.erase(found);
    return true;
  }
  std::move(sections.begin(), sections.end(),
            std::back_inserter(kept_locks)); // it is about them all
  sections.clear();
  return true;
}

Result<ConversionFile> read_conversion(const std::string &path) {
  const Result<toml::table> parsed = read_toml(path);
  if (!parsed)
    return parsed.error();
  return Reader(path).read(*parsed);
}

bool names_lock(std::string_view name, std::string_view path) {
  if (name == path)
    return true;
  const std::string wanted = with_dots(name);
  const std::string found = with_dots(path);
  return wanted == found ||
         (wanted.find('.') != std::string::npos && found.ends_with("." + wanted));
}

} // namespace tandem
