// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/file.h"
#include "base/json.h"
#include "cli/common/installation.h"
#include "cli/doctor/check.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

namespace tandem {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::json;

constexpr std::size_t kMostDatabase = std::size_t{256} << 20; // bytes

// An option that stands in the way, and what to do.
struct Obstacle {
  std::string_view option; // the whole word, or its beginning where it ends in =
  CheckStatus status;
  std::string_view remedy;
};
constexpr Obstacle kObstacles[] = {
    {"-flto=thin", CheckStatus::failed, "thin LTO never shows the whole program: use -flto"},
    {"-static", CheckStatus::failed,
     "there is no static runtime: link dynamically, or with -ftandem-enforce=none"},
    {"-stdlib=libc++", CheckStatus::note,
     "guards of std::mutex are known of libstdc++: without it their regions may be missed"},
    {"-fno-strict-aliasing", CheckStatus::note,
     "types keep no accesses apart then: more conflicts are found than there are"},
    {"-fopenmp", CheckStatus::note,
     "critical sections of OpenMP are no lock regions: mark them, or leave them as they are"},
};

bool matches(std::string_view word, std::string_view option) {
  return option.ends_with('=') ? word.starts_with(option) : word == option;
}

void look_for_obstacles(const std::string &text, std::map<std::string_view, std::size_t> &seen) {
  std::istringstream words(text);
  std::string word;
  std::map<std::string_view, bool> here;
  while (words >> word)
    for (const Obstacle &obstacle : kObstacles)
      if (matches(word, obstacle.option) && !std::exchange(here[obstacle.option], true))
        ++seen[obstacle.option];
}

void add_obstacles(const std::map<std::string_view, std::size_t> &seen, const std::string &where,
                   std::vector<DoctorCheck> &checks) {
  for (const Obstacle &obstacle : kObstacles)
    if (const auto found = seen.find(obstacle.option); found != seen.end())
      checks.push_back({fmt::format("option {}", obstacle.option), obstacle.status,
                        fmt::format("in {} {} of {}", found->second,
                                    found->second == 1 ? "entry" : "entries", where),
                        std::string(obstacle.remedy)});
}

// Where build systems put it, below the folder.
std::optional<std::string> find_below(const std::string &folder, const std::string &name) {
  for (const char *place : {"", "build/", "out/", "_build/"})
    if (const std::string path = folder + "/" + place + name; fs::is_regular_file(path))
      return path;
  return std::nullopt;
}

Status check_database(const std::string &folder, std::vector<DoctorCheck> &checks) {
  const std::string kName = "compilation database";
  const std::optional<std::string> path = find_below(folder, "compile_commands.json");
  if (!path) {
    checks.push_back({kName, CheckStatus::note, "none below " + folder,
                      "tandem analyze -p needs one: cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, or "
                      "bear -- make; or build with CC=tandem-cc"});
    return Unit{};
  }
  const Result<std::string> text = read_file(*path, kMostDatabase);
  if (!text)
    return text.error();
  const Result<Json> entries = parse_json<Json>(*text, *path, JsonRoot::list);
  if (!entries)
    return entries.error();
  std::size_t missing = 0;
  std::map<std::string_view, std::size_t> seen;
  for (const Json &entry : *entries) {
    if (!entry.is_object())
      continue;
    const auto text_of = [&](const char *key) {
      return entry.contains(key) && entry[key].is_string() ? entry[key].get<std::string>() : "";
    };
    std::string command = text_of("command");
    if (entry.contains("arguments") && entry["arguments"].is_array())
      for (const Json &word : entry["arguments"])
        if (word.is_string())
          command += word.get<std::string>() + " ";
    look_for_obstacles(command, seen);
    const fs::path file = fs::path(text_of("directory")) / text_of("file");
    if (!fs::exists(file))
      ++missing;
  }
  if (entries->empty())
    checks.push_back({kName, CheckStatus::failed, *path + " has no entry", "build the project"});
  else if (missing != 0)
    checks.push_back(
        {kName, CheckStatus::failed,
         fmt::format("{}: {} of {} sources are not there", *path, missing, entries->size()),
         "generate it again: files were moved, or are made by the build"});
  else
    checks.push_back(
        {kName, CheckStatus::ok, fmt::format("{}: {} sources", *path, entries->size())});
  add_obstacles(seen, *path, checks);
  return Unit{};
}

// NAME:TYPE=VALUE of a CMakeCache.txt.
std::map<std::string, std::string> read_cache(const std::string &text) {
  std::map<std::string, std::string> cache;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    const std::size_t colon = line.find(':');
    const std::size_t equals = line.find('=');
    if (!line.starts_with('#') && !line.starts_with("//") && colon < equals &&
        equals != std::string::npos)
      cache[line.substr(0, colon)] = line.substr(equals + 1);
  }
  return cache;
}

Status check_cmake(const std::string &folder, std::vector<DoctorCheck> &checks) {
  const std::optional<std::string> path = find_below(folder, "CMakeCache.txt");
  if (!path)
    return Unit{};
  const Result<std::string> text = read_file(*path, kMostDatabase);
  if (!text)
    return text.error();
  const std::map<std::string, std::string> cache = read_cache(*text);
  const auto value = [&](const std::string &name) {
    const auto found = cache.find(name);
    return found == cache.end() ? std::string() : found->second;
  };
  const std::string own = programs_folder();
  for (const auto &[variable, wanted] :
       {std::pair{"CMAKE_C_COMPILER", "tandem-cc"}, std::pair{"CMAKE_CXX_COMPILER", "tandem-c++"}})
    if (const std::string compiler = value(variable);
        !compiler.empty() && fs::path(compiler).filename() != wanted)
      checks.push_back({variable, CheckStatus::note, compiler,
                        fmt::format("analyze works so; to enforce sections: cmake -D{}={}/{} in a "
                                    "new folder",
                                    variable, own, wanted)});
  const bool ours = value("CMAKE_C_COMPILER").ends_with("tandem-cc") ||
                    value("CMAKE_CXX_COMPILER").ends_with("tandem-c++");
  for (const auto &[variable, wanted] :
       {std::pair{"CMAKE_AR", "tandem-ar"}, std::pair{"CMAKE_RANLIB", "tandem-ranlib"}}) {
    const std::string tool = fs::path(value(variable)).filename().string();
    if (ours && !tool.empty() && !tool.starts_with("tandem-") && !tool.ends_with("-19"))
      checks.push_back({variable, CheckStatus::failed, value(variable),
                        fmt::format("it may not read this LLVM's bitcode: cmake -D{}={}/{}",
                                    variable, own, wanted)});
  }
  std::map<std::string_view, std::size_t> seen;
  for (const auto &[name, flags] : cache)
    if (name.find("_FLAGS") != std::string::npos)
      look_for_obstacles(flags, seen);
  add_obstacles(seen, *path, checks);
  return Unit{};
}

} // namespace

Result<std::vector<DoctorCheck>> check_project(const std::string &folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error))
    return Error{folder + ": is no folder; name a project's, or its build folder"};
  std::vector<DoctorCheck> checks;
  if (const Status done = check_database(folder, checks); !done)
    return done.error();
  if (const Status done = check_cmake(folder, checks); !done)
    return done.error();
  return checks;
}

} // namespace tandem
