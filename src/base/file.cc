// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace tandem {
namespace {

Error cannot(const std::string &path, const char *what, int error_number) {
  return Error{fmt::format("{}: cannot be {}: {}", path, what, std::strerror(error_number))};
}

std::string folder_of(const std::string &path) {
  const auto parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

} // namespace

Result<std::string> read_file(const std::string &path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    return cannot(path, "read", EISDIR);
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (file == nullptr)
    return cannot(path, "read", errno);
  std::string content;
  char buffer[1 << 16];
  std::size_t count = 0;
  while ((count = std::fread(buffer, 1, sizeof buffer, file)) > 0)
    content.append(buffer, count);
  const bool failed = std::ferror(file) != 0;
  const int error_number = errno;
  std::fclose(file);
  if (failed)
    return cannot(path, "read", error_number);
  return content;
}

Status check_writable(const std::string &path) {
  if (path == "-")
    return Unit{};
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode))
      return cannot(path, "written", EISDIR);
    if (::access(path.c_str(), W_OK) != 0)
      return cannot(path, "written", errno);
    if (!S_ISREG(status.st_mode))
      return Unit{};
  }
  const std::string folder = folder_of(path);
  if (::stat(folder.c_str(), &status) != 0)
    return cannot(path, "written", errno);
  if (!S_ISDIR(status.st_mode))
    return cannot(path, "written", ENOTDIR);
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return cannot(path, "written", errno);
  return Unit{};
}

Status write_file(const std::string &path, std::string_view content) {
  if (path == "-") {
    if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size() ||
        std::fflush(stdout) != 0)
      return cannot("standard output", "written", errno);
    return Unit{};
  }
  if (Status writable = check_writable(path); !writable)
    return writable;
  struct stat status{};
  // A device or a pipe (/dev/null, /dev/stdout) is written in place: there is nothing to rename
  // over.
  const bool in_place = ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  const std::string target = in_place ? path : fmt::format("{}.{}.part", path, ::getpid());
  std::FILE *file = std::fopen(target.c_str(), "wb");
  if (file == nullptr)
    return cannot(path, "written", errno);
  bool good = std::fwrite(content.data(), 1, content.size(), file) == content.size();
  int error_number = errno;
  if (std::fclose(file) != 0 && good) {
    good = false;
    error_number = errno;
  }
  if (good && !in_place && std::rename(target.c_str(), path.c_str()) != 0) {
    good = false;
    error_number = errno;
  }
  if (!good) {
    if (!in_place)
      ::unlink(target.c_str());
    return cannot(path, "written", error_number);
  }
  return Unit{};
}

} // namespace tandem
