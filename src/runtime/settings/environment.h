// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the user says to the runtime in the environment. A program that runs with more rights than
// its caller (setuid, setgid, file capabilities: AT_SECURE of getauxval(3)) takes nothing from it:
// the caller could have any file written, or the program stopped. Any thread.
#pragma once

#include <cstdlib>

extern "C" char **environ;

namespace tandem {

// Whether an entry of the environment is a variable of ours, TANDEM_* or ITM_*.
inline bool is_ours(const char *entry) noexcept {
  const auto begins = [entry](const char *with) {
    const char *at = entry;
    while (*with != '\0' && *at == *with)
      ++at, ++with;
    return *with == '\0';
  };
  return begins("TANDEM_") || begins("ITM_");
}

// Whether there is any. Mostly there is none, and what asks for many need not search for each.
inline bool any_variable() noexcept {
  for (char **entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    if (is_ours(*entry))
      return true;
  return false;
}

// The value of TANDEM_* or ITM_*; null: not set, or not to be obeyed.
inline const char *variable(const char *name) noexcept { return ::secure_getenv(name); }

} // namespace tandem
