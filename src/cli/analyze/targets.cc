// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/targets.h"

#include "base/file.h"
#include "cli/common/suggest.h"

#include <algorithm>
#include <filesystem>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace tandem {
namespace {

namespace fs = std::filesystem;

// What each file is made of, by absolute names.
using Inputs = std::map<std::string, std::vector<std::string>>;

std::string resolved(const fs::path &folder, const std::string &name) {
  return (folder / name).lexically_normal().string();
}

std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

bool is_archive(const std::string &path) { return path.ends_with(".a"); }
bool is_object(const std::string &path) { return path.ends_with(".o") || path.ends_with(".obj"); }

// A build statement of ninja in words, without its escapes; ":", "|" and "||" are words of their
// own. Source: the Ninja build system, "Lexical syntax".
std::vector<std::string> ninja_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  const auto end = [&] {
    if (!word.empty())
      words.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '$' && at + 1 < line.size()) {
      word += line[++at];
    } else if (line[at] == ' ') {
      end();
    } else if (line[at] == ':' || line[at] == '|') {
      end();
      const std::size_t length = line.substr(at).starts_with("||") ? 2 : 1;
      words.emplace_back(line.substr(at, length));
      at += length - 1;
    } else {
      word += line[at];
    }
  }
  end();
  return words;
}

// The lines of a file of ninja's, those that go on in the next one joined.
std::vector<std::string> ninja_lines(const std::string &text) {
  std::vector<std::string> lines(1);
  for (std::size_t at = 0; at < text.size(); ++at)
    if (text[at] == '$' && at + 1 < text.size() && text[at + 1] == '\n') {
      at = text.find_first_not_of(' ', at + 2);
      if (at == std::string::npos)
        break;
      --at;
    } else if (text[at] == '$' && at + 1 < text.size()) {
      lines.back() += text[at];
      lines.back() += text[++at];
    } else if (text[at] == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += text[at];
    }
  return lines;
}

void read_ninja(const std::string &text, const fs::path &folder, Inputs &inputs) {
  for (const std::string &line : ninja_lines(text)) {
    if (!line.starts_with("build "))
      continue;
    const std::vector<std::string> words = ninja_words(std::string_view(line).substr(6));
    const auto colon = std::find(words.begin(), words.end(), ":");
    if (colon == words.begin() || words.end() - colon < 2 || colon[1] == "phony" ||
        colon[1] == "CUSTOM_COMMAND")
      continue;
    std::vector<std::string> &of = inputs[resolved(folder, words.front())];
    for (auto word = colon + 2; word != words.end() && *word != "||"; ++word)
      if (*word != "|")
        of.push_back(resolved(folder, *word));
  }
}

// The commands that CMake's makefiles link by: of a compiler, or of ar.
void read_link_command(const std::string &line, const fs::path &folder, Inputs &inputs) {
  std::vector<std::string> words = split_command(line);
  std::string output;
  std::vector<std::string> of;
  for (std::size_t index = 1; index < words.size(); ++index) {
    const std::string word = words[index];
    if (word == "-o" && index + 1 < words.size()) {
      output = words[++index];
    } else if (word.starts_with("@")) {
      if (const auto more = read_file(resolved(folder, word.substr(1)))) {
        const std::vector<std::string> named = split_command(*more);
        words.insert(words.end(), named.begin(), named.end());
      }
    } else if (output.empty() && of.empty() && is_archive(word)) {
      output = word; // ar's first file
    } else if (is_object(word) || is_archive(word)) {
      of.push_back(resolved(folder, word));
    }
  }
  if (!output.empty() && !of.empty())
    inputs[resolved(folder, output)] = std::move(of);
}

// Errors of the walk itself, such as a folder that may not be entered, end it: what was found
// before counts.
Status read_makefiles(const fs::path &folder, Inputs &inputs) {
  std::error_code error;
  for (fs::recursive_directory_iterator
           at(folder, fs::directory_options::skip_permission_denied, error),
       end;
       !error && at != end; at.increment(error)) {
    const fs::path &path = at->path();
    if (path.filename() != "link.txt" || path.parent_path().extension() != ".dir")
      continue;
    const Result<std::string> text = read_file(path.string());
    if (!text)
      return text.error();
    const fs::path runs_in = path.parent_path().parent_path().parent_path(); // of CMakeFiles
    std::size_t begin = 0;
    for (std::size_t stop = text->find('\n'); begin < text->size();
         begin = stop + 1, stop = text->find('\n', begin)) {
      stop = std::min(stop, text->size());
      read_link_command(text->substr(begin, stop - begin), runs_in, inputs);
    }
  }
  return Unit{};
}

// The units and the archives that a file is made of, through objects that are made of objects.
class Parts {
public:
  Parts(const Inputs &inputs, const std::map<std::string, std::size_t> &units)
      : inputs_(inputs), units_(units) {}

  std::vector<std::size_t> units;
  std::vector<std::string> archives;

  void add(const std::string &file) {
    const auto made = inputs_.find(file);
    if (made == inputs_.end() || !seen_.insert(file).second)
      return;
    for (const std::string &part : made->second)
      if (const auto unit = units_.find(part); unit != units_.end()) {
        if (taken_.insert(unit->second).second)
          units.push_back(unit->second);
      } else if (is_archive(part)) {
        archives.push_back(part);
      } else if (is_object(part)) {
        add(part);
      }
  }

private:
  const Inputs &inputs_;
  const std::map<std::string, std::size_t> &units_;
  std::set<std::string> seen_;
  std::set<std::size_t> taken_;
};

// Whether CMake or a user may call the file so: "cache" for "libcache.so.1".
bool is_called(const std::string &file, const std::string &name) {
  const std::string base = base_name(file);
  return file == name || base == name || base.starts_with("lib" + name + ".") ||
         base.starts_with(name + ".");
}

std::vector<std::string> names_of(const std::vector<BuildTarget> &targets) {
  std::vector<std::string> names;
  names.reserve(targets.size());
  for (const BuildTarget &target : targets)
    names.push_back(target.name);
  return names;
}

} // namespace

Result<std::vector<BuildTarget>> find_targets(const std::string &folder,
                                              const std::vector<CompileUnit> &units) {
  const fs::path root = fs::absolute(folder).lexically_normal();
  Inputs inputs;
  const std::string ninja = (root / "build.ninja").string();
  if (std::error_code error; fs::exists(ninja, error)) {
    const Result<std::string> text = read_file(ninja);
    if (!text)
      return text.error();
    read_ninja(*text, root, inputs);
  } else if (Status read = read_makefiles(root, inputs); !read) {
    return read.error();
  }
  std::map<std::string, std::size_t> by_object;
  for (std::size_t unit = 0; unit < units.size(); ++unit)
    if (!units[unit].output.empty())
      by_object.emplace(units[unit].output, unit);
  std::vector<BuildTarget> targets;
  std::vector<std::string> files;
  std::set<std::string> used;
  for (const auto &[file, of] : inputs) {
    if (is_object(file))
      continue;
    Parts parts(inputs, by_object);
    parts.add(file);
    BuildTarget target{file, parts.units, {}};
    Parts members(inputs, by_object);
    if (!is_archive(file))
      for (const std::string &archive : parts.archives) {
        used.insert(archive);
        members.add(archive);
      }
    target.archived = std::move(members.units);
    if (!target.units.empty() || !target.archived.empty())
      targets.push_back(std::move(target));
  }
  std::map<std::string, unsigned> bases;
  for (BuildTarget &target : targets) {
    target.used = used.contains(target.name);
    ++bases[base_name(target.name)];
  }
  for (BuildTarget &target : targets)
    target.name = bases[base_name(target.name)] == 1
                      ? base_name(target.name)
                      : fs::path(target.name).lexically_relative(root).string();
  std::sort(targets.begin(), targets.end(),
            [](const BuildTarget &a, const BuildTarget &b) { return a.name < b.name; });
  return targets;
}

Result<std::vector<BuildTarget>> choose_targets(std::vector<BuildTarget> targets,
                                                const std::string &name) {
  std::vector<BuildTarget> chosen;
  for (const BuildTarget &target : targets)
    if (name.empty() ? !target.used : target.name == name)
      chosen.push_back(target);
  if (chosen.empty() && !name.empty())
    for (const BuildTarget &target : targets)
      if (is_called(target.name, name))
        chosen.push_back(target);
  if (name.empty() || chosen.size() == 1)
    return chosen;
  if (chosen.size() > 1)
    return Error{fmt::format("--target {}: may be {}", name, fmt::join(names_of(chosen), " or "))};
  const std::vector<std::string> names = names_of(targets);
  const std::string near = nearest(name, names);
  return Error{fmt::format("--target {}: the build links no such program or library{}", name,
                           !near.empty()   ? fmt::format("; did you mean {}?", near)
                           : names.empty() ? ""
                                           : fmt::format("; it has {}", fmt::join(names, ", ")))};
}

} // namespace tandem
