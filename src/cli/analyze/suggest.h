// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A first conversion file (docs/convert.md), from what the analysis says of the program's locks.
#pragma once

#include "base/result.h"
#include "compiler/report/report.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// What a profile of locks (TANDEM_LOCK_PROFILE) says of one lock at one site.
struct LockUse {
  std::string symbol; // of the variable; empty: unknown
  std::string file;   // of the acquisition
  std::uint64_t line = 0;
  std::uint64_t acquisitions = 0;
  std::uint64_t contended = 0;
};
// `name` is that of the file in errors.
Result<std::vector<LockUse>> lock_uses_from_json(std::string_view text, const std::string &name);

// Locks, by their names in the file, that stay locks for a reason of the compiler's.
using Refusals = std::map<std::string, std::string>;

// Adds the lock that a refusal of the compiler names, in quotes; false where it names none that is
// not refused yet.
bool refuse(const Report &report, const std::string &why, Refusals &refused);

// The text of the file. `program`: the output that it is to be about; empty: all. Error: there is
// no lock that could become a section.
Result<std::string> suggest_conversion(const Report &report, const std::string &program,
                                       const std::vector<LockUse> &uses,
                                       const Refusals &refused = {});

} // namespace tandem
