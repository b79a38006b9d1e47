// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/front/topics.h"

#include "base/file.h"
#include "cli/common/installation.h"

#include <algorithm>
#include <filesystem>

namespace tandem {
namespace {

constexpr std::string_view kSuffix = ".md";

std::string title_of(const std::string &path) {
  const Result<std::string> text = read_file(path);
  if (!text || !text->starts_with("# "))
    return "";
  return text->substr(2, text->find('\n') - 2);
}

} // namespace

std::vector<Topic> find_topics() {
  namespace fs = std::filesystem;
  const fs::path folder = installation_prefix() + "/share/doc/tandem/docs";
  std::vector<Topic> topics;
  std::error_code error;
  const auto options = fs::directory_options::follow_directory_symlink;
  for (fs::recursive_directory_iterator entry(folder, options, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path &path = entry->path();
    if (path.filename() == "design")
      entry.disable_recursion_pending();
    if (path.extension() != kSuffix || path.filename() == "README.md")
      continue;
    fs::path name = path.lexically_relative(folder);
    topics.push_back({name.replace_extension().string(), path.string(), title_of(path.string())});
  }
  std::sort(topics.begin(), topics.end(),
            [](const Topic &a, const Topic &b) { return a.name < b.name; });
  return topics;
}

const Topic *find_topic(const std::vector<Topic> &topics, const std::string &name) {
  const std::string wanted =
      name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
  const Topic *found = nullptr;
  for (const Topic &topic : topics) {
    if (topic.name == wanted)
      return &topic;
    if (topic.name.ends_with("/" + wanted)) {
      if (found != nullptr)
        return nullptr;
      found = &topic;
    }
  }
  return found;
}

} // namespace tandem
