// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/profile/destination.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
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

// Names of what the process has open already, which may be a file with more in it.
bool is_open_already(const char *path) noexcept {
  constexpr const char *kStarts[] = {"/dev/std", "/dev/fd/", "/proc/"};
  for (const char *start : kStarts)
    if (std::strncmp(path, start, std::strlen(start)) == 0)
      return true;
  return false;
}

// How a file is written to: replaced as a whole, or as it is.
enum class Way : unsigned char { replace, in_place, append };

// 0, or why nothing can be written to it.
int examine(const char *path, Way &way) noexcept {
  way = Way::replace;
  struct stat status{};
  if (::stat(path, &status) != 0) {
    const int error = errno;
    // Nothing is there; but no link that leads to nothing, nor a descriptor that is closed.
    return error == ENOENT && ::lstat(path, &status) != 0 && !is_open_already(path) ? 0 : error;
  }
  if (S_ISDIR(status.st_mode))
    return EISDIR;
  if (is_open_already(path))
    way = Way::append;
  else if (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode))
    way = Way::in_place;
  else if (!S_ISREG(status.st_mode))
    return EINVAL;
  return way == Way::replace || ::access(path, W_OK) == 0 ? 0 : errno;
}

// Where no file can be made beside it.
bool cannot_be_replaced(const char *path, int error) noexcept {
  return (error == EACCES || error == EPERM || error == EROFS) && ::access(path, W_OK) == 0;
}

// Who reads a pipe may be gone, which is not to end the program by a signal.
class NoSignalOfPipes {
public:
  NoSignalOfPipes() noexcept {
    sigemptyset(&pipes_);
    sigaddset(&pipes_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipes_, &before_);
  }
  NoSignalOfPipes(const NoSignalOfPipes &) = delete;
  NoSignalOfPipes &operator=(const NoSignalOfPipes &) = delete;
  ~NoSignalOfPipes() {
    if (sigismember(&before_, SIGPIPE) == 0) {
      const timespec at_once{};
      ::sigtimedwait(&pipes_, nullptr, &at_once);
    }
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

private:
  sigset_t pipes_{};
  sigset_t before_{};
};

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

int write_in_place(const char *path, Way way, void (*writer)(std::FILE *, void *),
                   void *argument) noexcept {
  const NoSignalOfPipes quiet;
  // A pipe that nobody reads is an error at once.
  const int number =
      ::open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | (way == Way::append ? O_APPEND : O_TRUNC));
  if (number < 0)
    return errno;
  ::fcntl(number, F_SETFL, ::fcntl(number, F_GETFL) & ~O_NONBLOCK);
  std::FILE *file = ::fdopen(number, way == Way::append ? "a" : "w");
  return file != nullptr ? fill(file, writer, argument) : errno;
}

int write_beside(const char *temporary, const char *path, void (*writer)(std::FILE *, void *),
                 void *argument) noexcept {
  ::unlink(temporary);
  std::FILE *file = std::fopen(temporary, "wxe");
  if (file == nullptr) {
    const int error = errno;
    return cannot_be_replaced(path, error) ? write_in_place(path, Way::in_place, writer, argument)
                                           : error;
  }
  int error = fill(file, writer, argument);
  if (error == 0 && ::rename(temporary, path) != 0)
    error = errno;
  if (error != 0)
    ::unlink(temporary);
  return error;
}

} // namespace

int Destination::expand() noexcept {
  char *name = ::strdup(name_);
  for (char *number = nullptr; name != nullptr && (number = std::strstr(name, "%p")) != nullptr;) {
    char *next = nullptr;
    const int length = ::asprintf(&next, "%.*s%d%s", static_cast<int>(number - name), name,
                                  ::getpid(), number + 2);
    std::free(name);
    name = length >= 0 ? next : nullptr;
  }
  char *expanded = nullptr;
  const int length = name == nullptr
                         ? -1
                         : ::asprintf(&expanded, "%s%s%s", folder_ != nullptr ? folder_ : "",
                                      folder_ != nullptr ? "/" : "", name);
  std::free(name);
  if (length < 0)
    return ENOMEM;
  // A link stays: what it leads to is replaced.
  if (char *real = is_open_already(expanded) ? nullptr : ::realpath(expanded, nullptr);
      real != nullptr) {
    std::free(expanded);
    expanded = real;
  }
  std::free(path_);
  path_ = expanded;
  return 0;
}

int Destination::prepare(const char *name) noexcept {
  folder_ = *name == '/' ? nullptr : ::getcwd(nullptr, 0);
  name_ = ::strdup(name);
  if (name_ == nullptr)
    return ENOMEM;
  if (const int error = expand(); error != 0)
    return error;
  Way way = Way::replace;
  if (const int error = examine(path_, way); error != 0 || way != Way::replace)
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
  return error != 0 && cannot_be_replaced(path_, error) ? 0 : error;
}

void Destination::follow_fork() noexcept {
  if (std::strstr(name_, "%p") != nullptr) {
    expand();
    return;
  }
  Way way = Way::replace;
  if (examine(path_, way) == 0 && way != Way::replace)
    return;
  char *own = nullptr;
  if (::asprintf(&own, "%s.%d", path_, ::getpid()) < 0)
    return;
  std::free(path_);
  path_ = own;
}

int Destination::write(void (*writer)(std::FILE *, void *), void *argument) const noexcept {
  Way way = Way::replace;
  if (const int error = examine(path_, way); error != 0)
    return error;
  if (way != Way::replace)
    return write_in_place(path_, way, writer, argument);
  char *temporary = temporary_for(path_);
  if (temporary == nullptr)
    return ENOMEM;
  const int error = write_beside(temporary, path_, writer, argument);
  std::free(temporary);
  return error;
}

} // namespace tandem::profile
