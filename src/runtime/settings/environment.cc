// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the environment is not obeyed, programs that this one starts do not find the variables
// either: they may have the same rights for good. The dynamic linker does the same with its own.
#include "runtime/settings/environment.h"

#include <cstring>
#include <sys/auxv.h>
#include <unistd.h>

extern "C" char **environ;

namespace tandem {
namespace {

bool is_ours(const char *entry) noexcept {
  return std::strncmp(entry, "TANDEM_", 7) == 0 || std::strncmp(entry, "ITM_", 4) == 0;
}

[[gnu::constructor(101)]] void forget_variables() noexcept {
  if (::getauxval(AT_SECURE) == 0 || environ == nullptr)
    return;
  char **kept = environ;
  for (char **entry = environ; *entry != nullptr; ++entry)
    if (!is_ours(*entry))
      *kept++ = *entry;
  *kept = nullptr;
}

} // namespace
} // namespace tandem
