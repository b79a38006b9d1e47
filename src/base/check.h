// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CHECK: an invariant of ours. It stays on in release builds; when it fails, the program prints
// what was expected, where, and aborts. Never for a user's mistake (see base/result.h).
#pragma once

#include <fmt/format.h>

namespace tandem {

[[noreturn]] void check_failed(const char *file, int line, const char *expression,
                               const std::string &state) noexcept;

} // namespace tandem

// CHECK(condition[, format, arguments...]): aborts with the expression and the formatted state.
#define CHECK(condition, ...)                                                                      \
  do {                                                                                             \
    if (!(condition)) [[unlikely]]                                                                 \
      ::tandem::check_failed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__));       \
  } while (false)
