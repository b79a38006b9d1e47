// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the user says to the runtime in the environment. A program that runs with more rights than
// its caller (setuid, setgid, file capabilities: AT_SECURE of getauxval(3)) takes nothing from it:
// the caller could have any file written, or the program stopped. Any thread.
#pragma once

#include <cstdlib>

namespace tandem {

// The value of TANDEM_* or ITM_*; null: not set, or not to be obeyed.
inline const char *variable(const char *name) noexcept { return ::secure_getenv(name); }

} // namespace tandem
