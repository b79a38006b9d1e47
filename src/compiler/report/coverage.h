// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many of a program's acquisitions of locks its report has as regions.
#pragma once

#include "compiler/report/report.h"

#include <string>
#include <vector>

namespace tandem {

// ReportLockSite::reason of an operation in a wrapper, whose callers are listed in its place.
inline constexpr const char *kInWrapper =
    "inside a wrapper of the operation: its callers are the sites";

// Acquisitions (locks, trylocks, waits), those in wrappers not counted: understood is one that has
// a section and no reason why that is not all.
struct LockCoverage {
  std::size_t sites = 0;
  std::vector<const ReportLockSite *> missed; // into the report, in its order
  [[nodiscard]] std::size_t understood() const { return sites - missed.size(); }
};

LockCoverage lock_coverage(const Report &report);

// "28 of 30 acquisition sites understood"; empty where the program has none.
std::string coverage_text(const LockCoverage &coverage);

} // namespace tandem
