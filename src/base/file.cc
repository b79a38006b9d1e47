// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/file.h"

#include "base/output_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tandem {
namespace {

Error cannot(const std::string &path, const char *what, int error_number) {
  return Error{fmt::format("{}: cannot be {}: {}", path, what, output_error(error_number))};
}

// 0, or an errno.
int write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(file, content.data(), content.size());
    if (count < 0 && errno != EINTR)
      return errno;
    content.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
  return 0;
}

// What a name leads to: a file, or a name in a folder where none is yet.
struct Identity {
  dev_t device = 0;
  ino_t number = 0;
  std::string name; // empty: the file itself

  bool operator==(const Identity &) const = default;
};

Identity identity_of(const OutputFile &file) {
  if (file.exists())
    return {file.status().st_dev, file.status().st_ino, ""};
  return {file.folder_status().st_dev, file.folder_status().st_ino, file.name()};
}

} // namespace

Result<std::string> read_file(const std::string &path, std::size_t most) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    return cannot(path, "read", EISDIR);
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (file == nullptr)
    return cannot(path, "read", errno);
  std::string content;
  char buffer[1 << 16];
  std::size_t count = 0;
  while (content.size() <= most && (count = std::fread(buffer, 1, sizeof buffer, file)) > 0)
    content.append(buffer, count);
  const bool failed = std::ferror(file) != 0;
  const int error_number = errno;
  std::fclose(file);
  if (failed)
    return cannot(path, "read", error_number);
  if (content.size() > most)
    return Error{fmt::format("{}: has more than {} bytes, the most that is read here", path, most)};
  return content;
}

Status check_writable(const std::string &path) { return check_outputs({path}, {}); }

Status check_outputs(const std::vector<std::string> &outputs,
                     const std::vector<std::string> &inputs) {
  std::vector<Identity> taken;
  bool standard_output = false;
  for (const std::string &path : outputs) {
    if (path.empty())
      continue;
    if (path == "-") {
      if (std::exchange(standard_output, true))
        return Error{"standard output: two outputs cannot go to one file"};
      continue;
    }
    OutputFile file;
    int error = file.find(path.c_str());
    if (error == 0)
      error = file.probe();
    if (error != 0)
      return cannot(path, "written", error);
    if (file.way() != OutputFile::Way::replace)
      continue;
    const Identity own = identity_of(file);
    for (const std::string &input : inputs)
      if (struct stat status{}; own.name.empty() && ::stat(input.c_str(), &status) == 0 &&
                                own == Identity{status.st_dev, status.st_ino, ""})
        return Error{
            fmt::format("{}: is an input, and would be overwritten: name another file", path)};
    if (std::find(taken.begin(), taken.end(), own) != taken.end())
      return Error{fmt::format("{}: two outputs cannot go to one file", path)};
    taken.push_back(own);
  }
  return Unit{};
}

Status write_file(const std::string &path, std::string_view content) {
  return write_file(path, [&](const TakeText &take) { take(content); });
}

Status write_file(const std::string &path, const std::function<void(const TakeText &)> &make) {
  // Whoever reads our output through a pipe and has seen enough ends us, as always.
  const SignalsHeld held{SIGXFSZ};
  int error = 0;
  if (path == "-") {
    make([&](std::string_view piece) {
      if (error == 0 && std::fwrite(piece.data(), 1, piece.size(), stdout) != piece.size())
        error = errno;
    });
    if (error == 0 && std::fflush(stdout) != 0)
      error = errno;
    return error == 0 ? Status(Unit{}) : cannot("standard output", "written", error);
  }
  std::unique_ptr<SignalsHeld> ends; // until the file is gone
  OutputFile file;
  error = file.find(path.c_str());
  if (error != 0)
    return cannot(path, "written", error);
  // A pipe may make the process wait, which must be able to end then.
  if (file.way() == OutputFile::Way::replace)
    ends.reset(new SignalsHeld{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU});
  error = file.begin(false);
  if (error == 0)
    make([&](std::string_view piece) {
      if (error == 0)
        error = write_all(file.descriptor(), piece);
    });
  if (error == 0)
    error = file.commit();
  return error == 0 ? Status(Unit{}) : cannot(path, "written", error);
}

} // namespace tandem
