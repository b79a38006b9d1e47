// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/report/coverage.h"

#include <fmt/format.h>

namespace tandem {

LockCoverage lock_coverage(const Report &report) {
  LockCoverage coverage;
  for (const ReportLockSite &site : report.lock_sites) {
    if (site.operation == "unlock" || site.operation == "signal" || site.reason == kInWrapper)
      continue;
    ++coverage.sites;
    if (site.sections.empty() || !site.reason.empty())
      coverage.missed.push_back(&site);
  }
  return coverage;
}

std::string coverage_text(const LockCoverage &coverage) {
  if (coverage.sites == 0)
    return "";
  return fmt::format("{} of {} acquisition site{} understood", coverage.understood(),
                     coverage.sites, coverage.sites == 1 ? "" : "s");
}

} // namespace tandem
