// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// rapid-relock: a lock is released and acquired again with little in between, so that one larger
// region would be cheaper, and another thread can see the state between the two.
// Source: Ruan, Vyas, Liu, Spear, "Transactionalizing Legacy Code: an Experience Report Using GCC
// and Memcached", ASPLOS 2014, Figure 3.
#include "compiler/effects/unpublished.h"
#include "compiler/findings/lock_address.h"
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/sections/flags.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

namespace tandem {
namespace {

using namespace llvm;

// Unoptimised instructions between the two operations, on the shortest way. An uncontended release
// and acquisition take about 40 cycles: what is shorter than this costs less than they do.
constexpr unsigned kLittle = 40;

class Search {
public:
  Search(const LockCalls &locks, const LockSite &release, const LoopInfo &loops, const Flags &flags)
      : locks_(locks), release_(release), operands_(lock_operands(release)), loops_(loops),
        flags_(flags) {}

  // The acquisition that the least lies before, or null.
  const LockSite *nearest() {
    walk(std::next(BasicBlock::const_iterator(release_.call)), 0, flags_.before(*release_.call));
    while (found_ == nullptr && !work_.empty()) {
      const auto [length, next] = *work_.begin();
      work_.erase(work_.begin());
      walk(next.first->begin(), length, next.second);
    }
    return found_;
  }

private:
  using Way = std::pair<const BasicBlock *, Flags::Values>;

  void walk(BasicBlock::const_iterator at, unsigned length, Flags::Values values) {
    const BasicBlock *block = at->getParent();
    for (; at != block->end(); ++at) {
      if (is_marker(*at))
        continue;
      if (const LockSite *site = locks_.at(*at);
          site != nullptr &&
          (site->operation == LockOperation::lock || site->operation == LockOperation::trylock)) {
        if (same_locks(release_, *site))
          found_ = site;
        return;
      }
      const auto *store = dyn_cast<StoreInst>(&*at);
      if (isa<CallBase>(*at) || at->isAtomic() || ++length > kLittle ||
          (store != nullptr &&
           any_of(operands_, [&](const Value *operand) { return may_change(*store, *operand); })))
        return;
      flags_.apply(*at, values);
    }
    const Instruction &branch = *block->getTerminator();
    for (unsigned i = 0; i < branch.getNumSuccessors(); ++i) {
      const BasicBlock *next = branch.getSuccessor(i);
      if (loops_.isLoopHeader(next))
        continue; // around a loop, or past one as if it did nothing
      if (const std::optional<Flags::Values> there = flags_.follow(branch, i, values);
          there && seen_.emplace(next, *there).second)
        work_.emplace(length, Way(next, *there));
    }
  }

  const LockCalls &locks_;
  const LockSite &release_;
  const std::vector<const Value *> operands_;
  const LoopInfo &loops_;
  const Flags &flags_;
  const LockSite *found_ = nullptr;
  std::multimap<unsigned, Way> work_; // by the instructions before
  std::set<Way> seen_;
};

} // namespace

void find_rapid_relocks(const AnalysisView &view, Findings &findings) {
  for (const Function &function : view.module) {
    if (function.isDeclaration() || view.locks.is_wrapper(function))
      continue;
    const std::vector<const LockSite *> sites = view.locks.sites(function);
    if (sites.size() < 3)
      continue;
    const LoopInfo loops(DominatorTree(const_cast<Function &>(function)));
    const Flags flags(function, &view.locks);
    std::map<std::pair<Place, std::string>, std::set<Place>> pairs; // acquisition -> releases
    for (const LockSite *site : sites)
      if (site->operation == LockOperation::unlock)
        if (const LockSite *again = Search(view.locks, *site, loops, flags).nearest())
          pairs[{place_of(*again->call), again->locks.front()}].insert(place_of(*site->call));
    for (const auto &[acquisition, releases] : pairs) {
      const auto &[place, lock] = acquisition;
      ReportFinding finding = finding_at(
          "rapid-relock", place,
          fmt::format("'{}' is acquired again right after its release: one region that covers both "
                      "costs less, and hides the state between them",
                      lock));
      for (const Place &release : releases)
        finding.notes.push_back(note_at(release, "released here"));
      findings.push_back(std::move(finding));
    }
  }
}

} // namespace tandem
