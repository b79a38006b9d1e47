// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The process's command line as it was called, for profiles.
#pragma once

#include "runtime/profile/json.h"

#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace tandem::profile {

// Writes `"command": [...]`. At the end of a process only; what is longer than 64 KiB is cut.
inline void write_command_line(Json &json) noexcept {
  json.open('[', "command");
  static char words[1 << 16];
  const int file = ::open("/proc/thread-self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? 0 : ::read(file, words, sizeof words - 1);
  if (file >= 0)
    ::close(file);
  for (ssize_t at = 0; at < length;) {
    json.text(nullptr, words + at);
    at += static_cast<ssize_t>(std::strlen(words + at)) + 1;
  }
  json.close(']');
}

} // namespace tandem::profile
