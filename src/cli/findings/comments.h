// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comments of C and C++ that suppress findings: `// tandem: allow(rule, rule): reason`. Private to
// the findings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tandem {

struct AllowComment {
  std::uint32_t line = 0;  // where it stands, from 1
  std::uint32_t about = 0; // the line whose findings it suppresses
  std::vector<std::string> rules;
  std::string reason; // may be empty
};

// All of a file. Text that merely looks like one, in a string literal, is none.
std::vector<AllowComment> allow_comments(const std::vector<std::string> &lines);

} // namespace tandem
