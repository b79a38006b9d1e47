// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What guards each section of the rewritten program: the report's colours and classes, with more
// sections non-revocable than the analysis found (LockSTM, section 3; figures 4 and 5).
#pragma once

#include "base/result.h"
#include "compiler/report/report.h"

#include <string>
#include <string_view>
#include <vector>

namespace tandem::rewrite {

enum class Mode { locks, hybrid, stm };

std::string_view to_string(Mode mode);
// Error: the right names.
Result<Mode> parse_mode(const std::string &name);

struct Guard {
  std::vector<ReportLock> locks; // in the order of acquisition, which is the colours'
  bool transaction = false;      // inside of the locks
  [[nodiscard]] bool empty() const { return locks.empty() && !transaction; }
  bool operator==(const Guard &) const = default;
};

struct PlannedSection {
  SectionClass klass = SectionClass::pure;
  Guard guard;
};

// One for each section of `report`; `refused` (as many) tells which sections gcc accepts in no
// transaction. Only functions and blocks get guards. A colour that none but one section holds is
// no lock, unless the section excludes itself by it alone.
std::vector<PlannedSection> plan(const Report &report, const std::vector<bool> &refused, Mode mode);

// Position of a colour in the total order: "A" < "Z" < "AA".
bool before(const std::string &colour, const std::string &other);

} // namespace tandem::rewrite
