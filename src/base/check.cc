// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/check.h"

#include "base/doing.h"
#include "base/printable.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace tandem {
namespace {

std::atomic<InternalErrorHandler> handler = nullptr;

} // namespace

void on_internal_error(InternalErrorHandler told) noexcept { handler = told; }

void check_failed(const char *file, int line, const char *expression,
                  const std::string &state) noexcept {
  const std::string what =
      fmt::format("{} does not hold{}{}", expression, state.empty() ? "" : ": ", state);
  if (const InternalErrorHandler told = handler)
    told(fmt::format("{}:{}: {}", file, line, what).c_str());
  const char *during = doing();
  std::fprintf(stderr, "%s:%d: internal error: %s%s%s\n", file, line, printable_lines(what).c_str(),
               *during == '\0' ? "" : ", while ", printable(during).c_str());
  std::abort();
}

} // namespace tandem
