// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the environment is not obeyed, programs that this one starts do not find the variables
// either: they may have the same rights for good. The dynamic linker does the same with its own.
#include "runtime/settings/environment.h"

#include <sys/auxv.h>
#include <unistd.h>

namespace tandem {
namespace {

[[gnu::constructor(101)]] void forget_variables() noexcept {
  if (!any_variable() || ::getauxval(AT_SECURE) == 0)
    return;
  char **kept = environ;
  for (char **entry = environ; *entry != nullptr; ++entry)
    if (!is_ours(*entry))
      *kept++ = *entry;
  *kept = nullptr;
}

} // namespace
} // namespace tandem
