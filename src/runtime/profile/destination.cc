// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/profile/destination.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tandem::profile {
namespace {

// Beside `path`, so that it can be renamed to it; to be freed, null without memory.
char *temporary_for(const char *path) noexcept {
  char *temporary = nullptr;
  return ::asprintf(&temporary, "%s.%d.part", path, ::getpid()) >= 0 ? temporary : nullptr;
}

// 0, or why nothing can be written to it. `in_place`: it is no file that could be replaced.
int examine(const char *path, bool &in_place) noexcept {
  in_place = false;
  struct stat status{};
  if (::stat(path, &status) != 0)
    return errno == ENOENT ? 0 : errno;
  if (S_ISREG(status.st_mode))
    return 0;
  if (S_ISDIR(status.st_mode))
    return EISDIR;
  if (!S_ISCHR(status.st_mode) && !S_ISFIFO(status.st_mode))
    return EINVAL;
  in_place = true;
  return ::access(path, W_OK) == 0 ? 0 : errno;
}

int fill(std::FILE *file, void (*writer)(std::FILE *, void *), void *argument) noexcept {
  errno = 0;
  writer(file, argument);
  std::fputc('\n', file);
  const bool failed = std::fflush(file) != 0 || std::ferror(file) != 0;
  const int error = errno != 0 ? errno : EIO;
  if (std::fclose(file) != 0)
    return errno;
  return failed ? error : 0;
}

} // namespace

int Destination::expand() noexcept {
  char *expanded = nullptr;
  const char *number = std::strstr(pattern_, "%p");
  const int length = number == nullptr
                         ? ::asprintf(&expanded, "%s", pattern_)
                         : ::asprintf(&expanded, "%.*s%d%s", static_cast<int>(number - pattern_),
                                      pattern_, ::getpid(), number + 2);
  if (length < 0)
    return ENOMEM;
  // A link stays: what it leads to is replaced.
  if (char *real = ::realpath(expanded, nullptr); real != nullptr) {
    std::free(expanded);
    expanded = real;
  }
  std::free(path_);
  path_ = expanded;
  return 0;
}

int Destination::prepare(const char *name) noexcept {
  char *folder = *name == '/' ? nullptr : ::getcwd(nullptr, 0);
  const int length = ::asprintf(&pattern_, "%s%s%s", folder != nullptr ? folder : "",
                                folder != nullptr ? "/" : "", name);
  std::free(folder);
  if (length < 0)
    return ENOMEM;
  if (const int error = expand(); error != 0)
    return error;
  bool in_place = false;
  if (const int error = examine(path_, in_place); error != 0 || in_place)
    return error;
  char *probe = temporary_for(path_);
  if (probe == nullptr)
    return ENOMEM;
  ::unlink(probe); // of an earlier process with this number, which was killed
  const int file = ::open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  const int error = file < 0 ? errno : 0;
  if (file >= 0) {
    ::close(file);
    ::unlink(probe);
  }
  std::free(probe);
  return error;
}

void Destination::follow_fork() noexcept {
  if (std::strstr(pattern_, "%p") != nullptr) {
    expand();
    return;
  }
  char *own = nullptr;
  if (::asprintf(&own, "%s.%d", path_, ::getpid()) < 0)
    return;
  std::free(path_);
  path_ = own;
}

int Destination::write(void (*writer)(std::FILE *, void *), void *argument) const noexcept {
  bool in_place = false;
  if (const int error = examine(path_, in_place); error != 0)
    return error;
  if (in_place) {
    std::FILE *file = std::fopen(path_, "we");
    return file != nullptr ? fill(file, writer, argument) : errno;
  }
  char *temporary = temporary_for(path_);
  if (temporary == nullptr)
    return ENOMEM;
  ::unlink(temporary);
  std::FILE *file = std::fopen(temporary, "wxe");
  int error = file != nullptr ? fill(file, writer, argument) : errno;
  if (error == 0 && ::rename(temporary, path_) != 0)
    error = errno;
  if (error != 0 && file != nullptr)
    ::unlink(temporary);
  std::free(temporary);
  return error;
}

} // namespace tandem::profile
