// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Findings as compilers print them, and as SARIF 2.1.0 for the tools that show such things.
#pragma once

#include "cli/common/terminal.h"
#include "cli/findings/suppress.h"

#include <string>
#include <vector>

namespace tandem {

struct FindingsView {
  bool suppressed = false; // show those that are suppressed, too
  std::size_t most = 0;    // show so many, the gravest rules' first; 0: all
  bool doubtful = false; // show also what rules that are (Rule::doubtful) have found, and each note
};

// `file:line: warning: message [rule]`, and `file:line: note: message` below for its further
// places; each a line. Rules of level note that have found more than a few take one line each,
// with their number and first place. A last line says how many are not shown.
std::string findings_text(const std::vector<JudgedFinding> &findings, const FindingsView &view,
                          const Terminal &terminal);

// "3 findings, 2 suppressed"; of doubtful rules none.
std::string findings_count(const std::vector<JudgedFinding> &findings);

// "lock-order 1, unprotected-access 2": how many each rule has found, the doubtful in brackets;
// empty where there are few.
std::string findings_by_rule(const std::vector<JudgedFinding> &findings);

// The findings as a SARIF log with one run: rules, places, further places, the path where the notes
// are one, and what is suppressed.
std::string to_sarif(const std::vector<JudgedFinding> &findings);

} // namespace tandem
