// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one reader of TOML: every file and option in that language comes through here. It bounds what
// the library behind it does not (size, depth, the parts of a key), and takes the library's own
// assertions for the user's mistakes, so that no text can end the process. Any thread.
//
// Include this instead of toml++.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace tandem {

inline constexpr std::size_t kMostTomlBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMostTomlDepth = 64; // of brackets, and of parts of a key

// Thrown by toml++ where it would assert; parse_toml catches it.
struct TomlAssertion {
  const char *expression;
};
[[noreturn]] void toml_assertion_failed(const char *expression);

} // namespace tandem

// One setting for all of the program: toml++ differs by it.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_ASSERT(expression)                                                                    \
  (static_cast<bool>(expression) ? static_cast<void>(0)                                            \
                                 : ::tandem::toml_assertion_failed(#expression))
#pragma push_macro("NDEBUG")
#undef NDEBUG // with which toml++ would assume what it asserts
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace tandem {

// The document. Error: `place:line:column: not TOML: what`, one line.
Result<toml::table> parse_toml(std::string_view text, const std::string &place);

// The same of a file. Error also: `path: cannot be read: reason`.
Result<toml::table> read_toml(const std::string &path);

} // namespace tandem
