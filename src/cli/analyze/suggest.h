// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A first conversion file (docs/convert.md), from what the analysis says of the program's locks.
#pragma once

#include "base/result.h"
#include "cli/report/profile.h"
#include "compiler/report/report.h"

#include <map>
#include <string>
#include <vector>

namespace tandem {

// Locks, by their names in the file, that stay locks for a reason of the compiler's.
using Refusals = std::map<std::string, std::string>;

// Adds the lock that a refusal of the compiler names, in quotes; false where it names none that is
// not refused yet.
bool refuse(const Report &report, const std::string &why, Refusals &refused);

// The text of the file. `program`: the output that it is to be about; empty: all. `profiles`: of
// the program's locks, and of its sections when it was converted. Error: there is no lock that
// could become a section.
Result<std::string> suggest_conversion(const Report &report, const std::string &program,
                                       const std::vector<Profile> &profiles,
                                       const Refusals &refused = {});

} // namespace tandem
