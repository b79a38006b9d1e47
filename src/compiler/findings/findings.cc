// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/findings.h"

#include "compiler/findings/held_locks.h"
#include "compiler/findings/rules.h"

namespace tandem {

std::vector<ReportFinding> find_problems(const AnalysisView &view) {
  Findings findings;
  const HeldLocks held(view.module, view.locks, view.points_to);
  find_hidden_pointers(view, findings);
  find_irrevocable_calls(view, findings);
  find_lock_operations(view, findings);
  find_condition_variables(view, findings);
  find_rapid_relocks(view, findings);
  find_volatile_rereads(view, findings);
  find_lock_orders(view, held, findings);
  find_unprotected_accesses(view, held, findings);
  return findings;
}

} // namespace tandem
