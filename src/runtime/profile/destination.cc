// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/profile/destination.h"

#include "base/output_file.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace tandem::profile {
namespace {

// Where no file can be made beside it.
bool cannot_be_replaced(const OutputFile &file, int error) noexcept {
  return file.exists() && (error == EACCES || error == EPERM || error == EROFS);
}

// 0, or why nothing can be written to `path`.
int examine(const char *path, OutputFile &file) noexcept {
  if (const int error = file.find(path); error != 0)
    return error;
  if (!file.exists()) // nothing is there; but no link that leads to nothing
    return file.linked() ? ENOENT : 0;
  // The program itself, which a profile would take the place of.
  struct stat own{};
  return ::stat("/proc/thread-self/exe", &own) == 0 && own.st_dev == file.status().st_dev &&
                 own.st_ino == file.status().st_ino
             ? ETXTBSY
             : 0;
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

int write_to(OutputFile &output, void (*writer)(std::FILE *, void *), void *argument) noexcept {
  if (const int error = output.begin(true); error != 0)
    return error;
  const int own = ::dup(output.descriptor());
  std::FILE *file = own < 0 ? nullptr : ::fdopen(own, "w");
  if (file == nullptr)
    return errno;
  const int error = fill(file, writer, argument);
  if (error == 0)
    return output.commit();
  output.forget();
  return error;
}

// `text`, memory of malloc, with `value` in place of each `mark`; null: no memory.
char *replaced(char *text, const char *mark, const char *value) noexcept {
  for (char *at = nullptr; text != nullptr && (at = std::strstr(text, mark)) != nullptr;) {
    char *next = nullptr;
    const int length = ::asprintf(&next, "%.*s%s%s", static_cast<int>(at - text), text, value,
                                  at + std::strlen(mark));
    std::free(text);
    text = length >= 0 ? next : nullptr;
  }
  return text;
}

} // namespace

int Destination::expand() noexcept {
  char number[16];
  std::snprintf(number, sizeof number, "%d", ::getpid());
  char program[4096];
  const ssize_t path = ::readlink("/proc/thread-self/exe", program, sizeof program - 1);
  program[path > 0 ? path : 0] = '\0';
  const char *slash = std::strrchr(program, '/');
  // One that says `%` itself would be looked at again.
  for (char *at = program; (at = std::strchr(at, '%')) != nullptr;)
    *at = '_';
  char *name = replaced(replaced(::strdup(name_), "%p", number), "%e",
                        slash != nullptr ? slash + 1 : program);
  char *expanded = nullptr;
  const int length = name == nullptr
                         ? -1
                         : ::asprintf(&expanded, "%s%s%s", folder_ != nullptr ? folder_ : "",
                                      folder_ != nullptr ? "/" : "", name);
  std::free(name);
  if (length < 0)
    return ENOMEM;
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
  OutputFile file;
  if (const int error = examine(path_, file); error != 0)
    return error;
  const int error = file.probe();
  return cannot_be_replaced(file, error) ? 0 : error;
}

void Destination::follow_fork() noexcept {
  if (std::strstr(name_, "%p") != nullptr) {
    expand();
    return;
  }
  OutputFile file;
  if (examine(path_, file) == 0 && file.way() != OutputFile::Way::replace)
    return;
  char *own = nullptr;
  if (::asprintf(&own, "%s.%d", path_, ::getpid()) < 0)
    return;
  std::free(path_);
  path_ = own;
}

int Destination::write(void (*writer)(std::FILE *, void *), void *argument) const noexcept {
  // Who reads a pipe may be gone, and files may have a limit: that is an error, not the end.
  const SignalsHeld own{SIGPIPE, SIGXFSZ};
  OutputFile file;
  if (const int error = examine(path_, file); error != 0)
    return error;
  if (file.way() != OutputFile::Way::replace)
    return write_to(file, writer, argument);
  const SignalsHeld ends{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU};
  return write_to(file, writer, argument);
}

} // namespace tandem::profile
