// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a process's profile goes: what TANDEM_PROFILE or TANDEM_LOCK_PROFILE names. A file appears,
// or is replaced, as a whole (base/output_file.h), when the process ends, or is overwritten where
// its folder allows no other. A pipe or a device is written to and stays what it is; to what the
// process has open already
// (/dev/stdout, /dev/fd/3) the profile is appended. `%p` in the name is the number of the process,
// `%e` the name of its program.
// Not for several threads at once.
#pragma once

#include <cstdio>

namespace tandem::profile {

class Destination {
public:
  // Before main: from now on it is `name`. 0, or why nothing could be written
  // there: an errno, or what output_error() explains.
  // Nothing is changed in the file system.
  int prepare(const char *name) noexcept;

  // Absolute, the process may change its folder; null: there is none.
  [[nodiscard]] const char *path() const noexcept { return path_; }

  // In the child: a file of its own, NAME.PID where the name has no `%p`. A pipe or a device is the
  // child's too.
  void follow_fork() noexcept;

  // Calls writer(file, argument). An errno, and the file is as it was, or 0.
  int write(void (*writer)(std::FILE *file, void *argument), void *argument) const noexcept;

private:
  int expand() noexcept;

  // Memory of malloc.
  char *folder_ = nullptr; // that name_ is relative to; null: it is absolute
  char *name_ = nullptr;   // as it was given
  char *path_ = nullptr;
};

} // namespace tandem::profile
