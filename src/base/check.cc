// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tandem {

void check_failed(const char *file, int line, const char *expression,
                  const std::string &state) noexcept {
  std::fprintf(stderr, "%s:%d: internal error: %s does not hold%s%s\n", file, line, expression,
               state.empty() ? "" : ": ", state.c_str());
  std::abort();
}

} // namespace tandem
