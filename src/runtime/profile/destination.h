// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a process's profile goes: what TANDEM_PROFILE or TANDEM_LOCK_PROFILE names. A file appears,
// or is replaced, as a whole, when the process ends; a pipe or a device is written to then, and
// stays what it is. `%p` in the name is the number of the process. Not for several threads at once.
#pragma once

#include <cstdio>

namespace tandem::profile {

class Destination {
public:
  // Before main: from now on it is `name`. An errno where nothing could be written there, else 0.
  // Nothing is changed in the file system.
  int prepare(const char *name) noexcept;

  // Absolute, the process may change its folder; null: there is none.
  [[nodiscard]] const char *path() const noexcept { return path_; }

  // In the child: a file of its own, NAME.PID where the name has no `%p`.
  void follow_fork() noexcept;

  // Calls writer(file, argument). An errno, and the file is as it was, or 0.
  int write(void (*writer)(std::FILE *file, void *argument), void *argument) const noexcept;

private:
  int expand() noexcept;

  char *pattern_ = nullptr; // absolute; memory of malloc, as path_
  char *path_ = nullptr;
};

} // namespace tandem::profile
