// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lock-in-section: a lock operation inside a section that is atomic by its mark. Signals of
// condition variables are condition-in-section's.
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"

#include "llvm/ADT/DenseSet.h"

#include <fmt/format.h>

namespace tandem {

void find_lock_operations(const AnalysisView &view, Findings &findings) {
  llvm::DenseSet<const llvm::CallBase *> signals;
  for (const SignalSite &signal : view.locks.signals())
    signals.insert(signal.call);
  for (std::size_t i = 0; i < view.sections.size(); ++i)
    for (const llvm::CallBase *call : view.effects[i].lock_operations) {
      if (signals.contains(call))
        continue;
      const llvm::Function *callee = called_function(*call);
      findings.push_back(finding_at(
          "lock-in-section", place_of(*call),
          fmt::format("'{}' inside atomic section '{}': a thread that holds this lock and enters a "
                      "section may wait for one that is in the section and waits for the lock",
                      callee == nullptr ? "(indirect call)" : shown_name(*callee),
                      view.sections[i].name)));
      findings.back().section = view.sections[i].name;
    }
}

} // namespace tandem
