// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The source files that a report names, found on this machine and read once. For one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

class SourceFiles {
public:
  // `folders`: where relative names begin, in the order of preference.
  explicit SourceFiles(std::vector<std::string> folders) : folders_(std::move(folders)) {}

  // The lines of `file` without their newlines; empty where it cannot be read, is no regular file,
  // is larger than 16 MiB or holds a zero byte. Line n is element n - 1.
  const std::vector<std::string> &lines(const std::string &file);

private:
  [[nodiscard]] std::vector<std::string> load(const std::string &file) const;

  std::vector<std::string> folders_;
  std::map<std::string, std::vector<std::string>> files_;
};

} // namespace tandem
