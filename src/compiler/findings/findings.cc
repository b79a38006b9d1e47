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
  Phases phases(view.module, view.points_to, view.sharing);
  find_unprotected_accesses(view, held, phases, findings);
  find_races(view, held, phases, findings);
  find_missing_unlocks(view, findings);
  find_locks_in_handlers(view, held, findings);
  return findings;
}

} // namespace tandem
