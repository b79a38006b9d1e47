// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/database.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/analyze/compile.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

namespace tandem {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The file's one true name.
std::string true_name(const fs::path &path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(path, error);
  return (error ? path.lexically_normal() : found).string();
}

std::string base_name(const std::string &word) { return word.substr(word.rfind('/') + 1); }

// Options that say which output is made, and where: ours say that.
bool drops(const std::string &word) {
  static constexpr std::array<std::string_view, 10> kAlone = {
      "-c", "-S", "-E", "-M", "-MM", "-MD", "-MMD", "-MP", "-MG", "--compile"};
  return std::find(kAlone.begin(), kAlone.end(), word) != kAlone.end() ||
         word.starts_with("-flto") || word.starts_with("-fno-lto") ||
         word.starts_with("-save-temps");
}

// The same with a value; `joined`: in the same word.
bool drops_value(const std::string &word, bool &joined) {
  for (const std::string_view option : {"-o", "-MF", "-MT", "-MQ", "-MJ"})
    if (word.starts_with(option)) {
      joined = word.size() > option.size();
      return true;
    }
  return false;
}

// The object that a compiler's command line makes, as it names it; empty: by the source's name.
std::string output_of(const std::vector<std::string> &words) {
  for (std::size_t index = 0; index < words.size(); ++index)
    if (words[index].starts_with("-o"))
      return words[index].size() > 2    ? words[index].substr(2)
             : index + 1 < words.size() ? words[index + 1]
                                        : "";
  return "";
}

// The options of a compiler's command line.
std::vector<std::string> flags_of(const std::vector<std::string> &words, const std::string &source,
                                  const fs::path &folder) {
  std::vector<std::string> flags;
  const std::string file = true_name(folder / source);
  for (std::size_t index = 0; index < words.size(); ++index) {
    const std::string &word = words[index];
    bool joined = false;
    if (drops(word) || word == "--")
      continue;
    if (drops_value(word, joined)) {
      index += joined ? 0 : 1;
      continue;
    }
    if (word == source || (!word.starts_with("-") && true_name(folder / word) == file))
      continue;
    flags.push_back(word);
  }
  return flags;
}

// Reads one database, and remembers the first thing that is wrong with it.
class Reader {
public:
  Reader(std::string path, const json &document) : path_(std::move(path)), document_(document) {}

  Result<std::vector<CompileUnit>> run() {
    for (std::size_t index = 0; index < document_.size(); ++index)
      if (Status read = read_entry(document_[index], index); !read)
        return read.error();
    if (units_.empty())
      return Error{fmt::format("{}: names no C or C++ file", path_)};
    return std::move(units_);
  }

private:
  Result<std::string> text(const json &entry, const char *key, std::size_t index) const {
    const auto found = entry.find(key);
    if (found == entry.end() || !found->is_string())
      return Error{fmt::format("{}: /{}/{}: {}", path_, index, key,
                               found == entry.end() ? "is missing" : "must be a string")};
    return found->get<std::string>();
  }

  Result<std::vector<std::string>> words(const json &entry, std::size_t index) const {
    if (const auto found = entry.find("arguments"); found != entry.end()) {
      std::vector<std::string> words;
      for (const json &word : *found) {
        if (!word.is_string())
          return Error{fmt::format("{}: /{}/arguments: must be a list of strings", path_, index)};
        words.push_back(word.get<std::string>());
      }
      return words;
    }
    const Result<std::string> command = text(entry, "command", index);
    if (!command)
      return command.error();
    return split_command(*command);
  }

  Status read_entry(const json &entry, std::size_t index) {
    if (!entry.is_object())
      return Error{fmt::format("{}: /{}: must be an object", path_, index)};
    const Result<std::string> file = text(entry, "file", index);
    if (!file)
      return file.error();
    const Result<std::string> folder = text(entry, "directory", index);
    if (!folder)
      return folder.error();
    Result<std::vector<std::string>> command = words(entry, index);
    if (!command)
      return command.error();
    const Result<std::string> compiler = compiler_of(*file);
    // A folder that is not absolute begins where the database is.
    const fs::path place = fs::absolute(fs::path(path_).parent_path() / *folder).lexically_normal();
    std::vector<std::string> &line = *command;
    const auto named = entry.find("output");
    const std::string output =
        named != entry.end() && named->is_string() ? named->get<std::string>() : output_of(line);
    const std::string object = output.empty() ? "" : (place / output).lexically_normal().string();
    if (!compiler || !known_.emplace(true_name(place / *file), object).second)
      return Unit{};
    while (!line.empty() && (base_name(line.front()).ends_with("ccache") ||
                             base_name(line.front()) == "distcc" || line.front() == "env"))
      line.erase(line.begin());
    const bool cxx = *compiler == "tandem-c++" ||
                     (!line.empty() && base_name(line.front()).find("++") != std::string::npos);
    if (!line.empty())
      line.erase(line.begin());
    units_.push_back({*file, cxx, place.string(), flags_of(line, *file, place), object});
    return Unit{};
  }

  std::string path_;
  const json &document_;
  std::vector<CompileUnit> units_;
  std::set<std::pair<std::string, std::string>> known_; // a file's one true name, and an object
};

Result<json> parse(const std::string &path) {
  const Result<std::string> text = read_file(path);
  if (!text)
    return text.error();
  return parse_json(*text, path, JsonRoot::list);
}

} // namespace

std::vector<std::string> split_command(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool begun = false;
  char quote = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (byte == '\\' && quote != '\'' && (quote == 0 || next == '"' || next == '\\')) {
      if (at + 1 < text.size())
        word += text[++at];
      begun = true;
    } else if (quote != 0 ? byte == quote : byte == '"' || byte == '\'') {
      quote = quote != 0 ? '\0' : byte;
      begun = true;
    } else if (quote == 0 && (byte == ' ' || byte == '\t' || byte == '\n')) {
      if (begun)
        words.push_back(std::move(word));
      word.clear();
      begun = false;
    } else {
      word += byte;
      begun = true;
    }
  }
  if (begun)
    words.push_back(std::move(word));
  return words;
}

std::string database_file(const std::string &path) {
  std::error_code error;
  return fs::is_directory(path, error) ? (fs::path(path) / "compile_commands.json").string() : path;
}

Result<std::vector<CompileUnit>> read_database(const std::string &path) {
  const std::string file = database_file(path);
  const Result<json> document = parse(file);
  if (!document)
    return document.error();
  return Reader(file, *document).run();
}

Result<std::vector<CompileUnit>> first_of_each_file(const std::string &path,
                                                    std::vector<CompileUnit> all,
                                                    const std::vector<std::string> &sources) {
  std::map<std::string, std::size_t> numbers; // of units, by the file's one true name
  std::vector<CompileUnit> units;
  for (CompileUnit &unit : all)
    if (numbers.emplace(true_name(fs::path(unit.folder) / unit.source), units.size()).second)
      units.push_back(std::move(unit));
  if (sources.empty())
    return units;
  std::vector<CompileUnit> named;
  std::set<std::size_t> taken;
  for (const std::string &source : sources) {
    const auto found = numbers.find(true_name(fs::absolute(source)));
    if (found == numbers.end())
      return Error{fmt::format("{}: not in {}", source, database_file(path))};
    if (taken.insert(found->second).second)
      named.push_back(units[found->second]);
  }
  return named;
}

} // namespace tandem
