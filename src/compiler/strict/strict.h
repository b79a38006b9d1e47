// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strict atomicity: a section marked TANDEM_ATOMIC_STRICT promises that nothing it may reach is
// irrevocable. Checked on the report alone.
#pragma once

#include "compiler/report/report.h"

#include <string>
#include <vector>

namespace tandem {

// A finding of rule "strict-atomicity" for each irrevocable callee of each strict section, at the
// section; its notes are the calls that lead there, where their places are known.
std::vector<ReportFinding> strict_violations(const Report &report);

// The same as lines for a person: `f.c:3: error: strict atomic section 'f' reaches 'printf': f
// (f.c:4) → g (f.c:10) → printf`. A place behind a function is where it calls the next one.
std::vector<std::string> strict_errors(const Report &report);

} // namespace tandem
