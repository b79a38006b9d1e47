// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules, one file each. A rule appends what it finds and reads nothing but the view.
#pragma once

#include "compiler/findings/findings.h"
#include "compiler/findings/held_locks.h"
#include "compiler/findings/phases.h"

namespace tandem {

using Findings = std::vector<ReportFinding>;

void find_hidden_pointers(const AnalysisView &view, Findings &findings);
void find_irrevocable_calls(const AnalysisView &view, Findings &findings);
void find_lock_operations(const AnalysisView &view, Findings &findings);
void find_condition_variables(const AnalysisView &view, Findings &findings);
void find_rapid_relocks(const AnalysisView &view, Findings &findings);
void find_volatile_rereads(const AnalysisView &view, Findings &findings);
void find_lock_orders(const AnalysisView &view, const HeldLocks &held, Findings &findings);
void find_unprotected_accesses(const AnalysisView &view, const HeldLocks &held, Phases &phases,
                               Findings &findings);
// different-locks, unguarded-access, possible-race.
void find_races(const AnalysisView &view, const HeldLocks &held, Phases &phases,
                Findings &findings);
void find_locks_in_handlers(const AnalysisView &view, const HeldLocks &held, Findings &findings);
void find_missing_unlocks(const AnalysisView &view, Findings &findings);

} // namespace tandem
