// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// condition-in-section: a condition variable is tied to a section. A wait ends the section in the
// middle; inside a marked section nobody could ever wake it up. The places that signal the same
// variable are its notes. A signal inside a marked section is a finding of its own.
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/sections/access_path.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <fmt/format.h>

#include <set>

#include <map>

namespace tandem {
namespace {

using namespace llvm;

constexpr const char *kRule = "condition-in-section";
// A condition variable is the first argument of every function that waits for it.
std::string condition_of(const CallBase &wait) {
  return access_path(wait.getArgOperand(0), 48).print(); // sizeof(pthread_cond_t) and std's
}

class ConditionFinder {
public:
  ConditionFinder(const AnalysisView &view, Findings &findings) : view_(view), findings_(findings) {
    for (const SignalSite &signal : view.locks.signals()) {
      signals_at_[signal.call] = &signal;
      signals_of_[signal.condition].push_back(&signal);
    }
  }

  void find() {
    for (const Section &section : view_.sections)
      if (section.kind != SectionKind::lock_region)
        visit_marked(section);
    for (const Section &section : view_.sections)
      if (section.kind == SectionKind::lock_region)
        visit_region(section);
  }

private:
  // A wait's region is entered when the wait returns: so there is one for each wait.
  void visit_region(const Section &section) {
    if (section.entry.operation != LockOperation::wait || in_marked_.contains(section.entry.call))
      return;
    const std::string condition = condition_of(*section.entry.call);
    ReportFinding finding = finding_at(
        kRule, place_of(*section.entry.call),
        fmt::format("'{}' is waited for with '{}' held: the region before the wait ends there, and "
                    "region '{}' begins when it returns",
                    condition, section.entry.locks.front(), section.name));
    finding.section = section.name;
    add_signals(condition, finding);
    findings_.push_back(std::move(finding));
  }

  void add_signals(const std::string &condition, ReportFinding &finding) {
    const auto found = signals_of_.find(condition);
    if (found == signals_of_.end())
      return;
    for (const SignalSite *signal : found->second)
      finding.notes.push_back(note_at(place_of(*signal->call), "signalled here"));
  }

  // Everything that a marked section runs.
  void visit_marked(const Section &section) {
    DenseSet<const Function *> seen;
    std::set<const Function *const *> arrays; // of which all are seen
    SmallVector<const Function *, 16> work;
    const auto visit = [&](const Instruction &instruction) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr || report_in(section, *call))
        return;
      const ArrayRef<const Function *> targets = likely_targets(*call, view_.points_to);
      if (arrays.insert(targets.data()).second)
        for (const Function *target : targets)
          if (seen.insert(target).second)
            work.push_back(target);
    };
    for (const Instruction *instruction : section.body)
      visit(*instruction);
    if (section.body.empty() && seen.insert(section.function).second)
      work.push_back(section.function);
    while (!work.empty())
      for (const Instruction &instruction : instructions(*work.pop_back_val()))
        visit(instruction);
  }

  bool report_in(const Section &section, const CallBase &call) {
    if (const SignalSite *signal = signals_at_.lookup(&call)) {
      findings_.push_back(finding_at(
          kRule, place_of(call),
          fmt::format("'{}' is signalled inside atomic section '{}': who waits may wake up before "
                      "the section's writes are there to see",
                      signal->condition, section.name)));
      return true;
    }
    const LockSite *site = view_.locks.at(call);
    if (site == nullptr || site->operation != LockOperation::wait)
      return false;
    in_marked_.insert(&call);
    const std::string condition = condition_of(call);
    ReportFinding finding = finding_at(
        kRule, place_of(call),
        fmt::format("'{}' is waited for inside atomic section '{}': a section that changes what it "
                    "waits for has to wait for this one",
                    condition, section.name));
    finding.section = section.name;
    add_signals(condition, finding);
    findings_.push_back(std::move(finding));
    return true;
  }

  const AnalysisView &view_;
  Findings &findings_;
  DenseMap<const Instruction *, const SignalSite *> signals_at_;
  std::map<std::string, std::vector<const SignalSite *>> signals_of_;
  DenseSet<const Instruction *> in_marked_; // waits
};

} // namespace

void find_condition_variables(const AnalysisView &view, Findings &findings) {
  ConditionFinder(view, findings).find();
}

} // namespace tandem
