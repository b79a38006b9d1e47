// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What people have decided about findings: a comment beside the code, or an entry of a file
// (docs/findings.md), suppresses a finding and says why. A suppression that suppresses nothing is a
// finding itself.
#pragma once

#include "base/result.h"
#include "cli/findings/sources.h"
#include "compiler/report/report.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tandem {

// An entry of a suppression file. Empty fields, and those that are not there, match everything.
struct SuppressionEntry {
  std::string rule;
  std::string file; // a pattern: '*' any characters, '?' one, '[a-z]' one of these
  std::string function;
  std::string section;
  std::string reason;
  std::uint32_t line = 0; // of the entry in its own file
};

struct SuppressionFile {
  std::string path;
  std::vector<SuppressionEntry> entries;
};

// Reads `path`. Errors: `path:line:column: ...` for text that is no TOML; `path:line: ...` for an
// entry that has an unknown field or rule, no rule or no reason, or a value of another type.
Result<SuppressionFile> load_suppressions(const std::string &path);

// Why a finding is not shown.
struct Suppression {
  bool in_source = false; // by a comment; else by an entry of a file
  std::string place;      // of the comment or the entry, "file:line"
  std::string reason;     // may be empty for a comment
};

struct JudgedFinding {
  ReportFinding finding;
  std::optional<Suppression> suppression;
};

// The findings of `report` with what suppresses them, and one `unused-suppression` for each that
// suppresses nothing; sorted as a report's findings. `sources`: the files to look for comments in
// are those that the report names. A comment at the end of a line is about that line, one that has
// lines of its own about the first line of code below it. A suppression for a rule that this report
// cannot have findings of because nobody looked is unused all the same.
std::vector<JudgedFinding> judge(const Report &report, const std::vector<SuppressionFile> &files,
                                 SourceFiles &sources);

// Suppresses the findings that an earlier report, `path`, has already: as many of one rule in one
// file with one message, whatever their lines, as it has.
void suppress_known(std::vector<JudgedFinding> &findings, const Report &baseline,
                    const std::string &path);

// Whether the finding is of a rule that is less certain (Rule::doubtful).
bool is_doubtful(const JudgedFinding &judged);

// How many of `findings` are not suppressed: only those of `rules` where that is not empty, else
// those that are not doubtful.
std::size_t count_open(const std::vector<JudgedFinding> &findings,
                       const std::set<std::string, std::less<>> &rules = {});

// "lock-order,rapid-relock" as a set; every rule is known. Error: `'x' is no rule; did you mean
// ...`.
Result<std::set<std::string, std::less<>>> parse_rules(std::string_view text);

} // namespace tandem
