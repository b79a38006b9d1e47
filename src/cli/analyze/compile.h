// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles source files to bitcode with the compilers beside us, as `tandem analyze` needs it.
#pragma once

#include "base/result.h"
#include "cli/analyze/database.h"
#include "cli/common/process.h"

#include <string>
#include <vector>

namespace tandem {

// The compiler of `source` by its suffix: "tandem-cc" or "tandem-c++".
// Error: `FILE: neither C nor C++ nor a report: ...`.
Result<std::string> compiler_of(const std::string &source);

// The file's suffix says that it is a report.
bool is_report(const std::string &file);

// Compiles `units`, as many at once as there are processors, into `folder`. Result: the bitcode
// files, one for each unit. What the compilers say goes to standard error, in the order of the
// units. Error: a source that cannot be read or does not compile; nothing if a signal ended it.
Result<std::vector<std::string>> compile_units(const std::vector<CompileUnit> &units,
                                               const PrivateFolder &folder, EndSignals &signals);

} // namespace tandem
