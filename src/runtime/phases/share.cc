// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/phases/share.h"

#include "runtime/fatal.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace tandem::phases {
namespace {

int open_for(const char *path) noexcept {
  return ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
}

} // namespace

bool can_append(const char *path) noexcept {
  const int file = open_for(path);
  if (file < 0)
    return false;
  ::close(file);
  return true;
}

void append_share(const char *path, std::uint64_t entered, std::uint64_t transactions) noexcept {
  char line[96];
  const int length = std::snprintf(
      line, sizeof line, "%d %llu %llu\n", static_cast<int>(::getpid()),
      static_cast<unsigned long long>(entered), static_cast<unsigned long long>(transactions));
  const int file = open_for(path);
  if (file < 0 || ::write(file, line, static_cast<std::size_t>(length)) != length)
    say("%s: %s", path, std::strerror(errno));
  if (file >= 0)
    ::close(file);
}

} // namespace tandem::phases
