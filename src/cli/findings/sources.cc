// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/findings/sources.h"

#include "base/file.h"

#include <filesystem>

namespace tandem {
namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{16} << 20; // no source that a person wrote

std::vector<std::string> split(const std::string &text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const bool returns = end > begin && text[end - 1] == '\r';
    lines.push_back(text.substr(begin, end - begin - (returns ? 1 : 0)));
    begin = end + 1;
  }
  return lines;
}

} // namespace

std::vector<std::string> SourceFiles::load(const std::string &file) const {
  const std::filesystem::path name(file);
  std::vector<std::filesystem::path> candidates;
  if (name.is_absolute())
    candidates.push_back(name);
  else
    for (const std::string &folder : folders_)
      candidates.push_back(std::filesystem::path(folder) / name);
  for (const std::filesystem::path &candidate : candidates) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(candidate, error) ||
        std::filesystem::file_size(candidate, error) > kMostBytes || error)
      continue;
    const Result<std::string> text = read_file(candidate.string());
    if (text && text->find('\0') == std::string::npos)
      return split(*text);
  }
  return {};
}

const std::vector<std::string> &SourceFiles::lines(const std::string &file) {
  const auto found = files_.find(file);
  if (found != files_.end())
    return found->second;
  return files_.emplace(file, file.empty() ? std::vector<std::string>() : load(file)).first->second;
}

} // namespace tandem
