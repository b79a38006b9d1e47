// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// missing-unlock: a function releases a lock on some ways to its end and not on others, and nothing
// in the program releases it for such a function. Not where the same condition decides about the
// acquisition and the release, although it may change in between, and all ways that keep the lock
// come by that condition: that is meant to be the same.
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/origin.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tandem {
namespace {

using namespace llvm;

// Where a path that holds the lock leaves the ways that release it: the place of the last line that
// it runs and no other way does, as far as debug information tells; the return itself else.
const Instruction *way_out(const Section &section) {
  const DenseSet<const Instruction *> body(section.body.begin(), section.body.end());
  const Instruction *exit = nullptr;
  for (const Instruction *instruction : section.body)
    if (isa<ReturnInst>(instruction))
      exit = instruction;
  if (exit == nullptr)
    return nullptr;
  // Ways meet in the return's block: the one that comes from within the region says more.
  for (const BasicBlock *before : predecessors(exit->getParent())) {
    const Instruction *last = before->getTerminator();
    if (body.contains(last) && last->getDebugLoc())
      return last;
  }
  return exit;
}

std::string last_name(const std::string &path) {
  const std::size_t end = path.find_last_of(".>*");
  return end == std::string::npos ? path : path.substr(end + 1);
}

// Calls between a function and the one that releases for it: a lock is handed on by a wrapper of a
// wrapper at most.
constexpr unsigned kMostSteps = 2;

// The releases of locks, by their last names, that no acquisition in their function reaches.
using Releases = std::map<const Function *, std::set<std::string>>;

Releases foreign_releases(const AnalysisView &view) {
  DenseSet<const CallBase *> ends;
  for (const Section &section : view.sections) {
    ends.insert(section.exits.begin(), section.exits.end());
    ends.insert(section.partial.begin(), section.partial.end());
  }
  Releases releases;
  for (const Function &function : view.module)
    if (!function.isDeclaration() && !view.locks.is_wrapper(function))
      for (const LockSite *site : view.locks.sites(function))
        if (site->operation == LockOperation::unlock && !site->guard && !site->empty &&
            !ends.contains(site->call))
          for (const std::string &lock : site->locks)
            releases[&function].insert(last_name(lock));
  return releases;
}

bool releases_for_caller(const Function &function, const std::string &lock,
                         const Releases &releases, unsigned steps) {
  const auto own = releases.find(&function);
  if (own != releases.end() && own->second.contains(lock))
    return true;
  return steps > 0 && any_of(instructions(function), [&](const Instruction &instruction) {
           const auto *call = dyn_cast<CallBase>(&instruction);
           const Function *callee = call == nullptr ? nullptr : called_function(*call);
           return callee != nullptr && !callee->isDeclaration() &&
                  releases_for_caller(*callee, lock, releases, steps - 1);
         });
}

// Whether a caller of the function, or what that calls, releases a lock for it. Who calls it by
// pointer may be anybody.
bool is_handed_on(const Function &function, const std::string &lock, const Releases &releases,
                  unsigned steps = kMostSteps) {
  if (function.hasAddressTaken())
    return any_of(releases, [&](const auto &of) { return of.second.contains(lock); });
  return steps > 0 && any_of(function.users(), [&](const User *user) {
           const auto *call = dyn_cast<CallBase>(user);
           return call != nullptr &&
                  (releases_for_caller(*call->getFunction(), lock, releases, kMostSteps) ||
                   is_handed_on(*call->getFunction(), lock, releases, steps - 1));
         });
}

// The conditions that a block stands behind, the last ones first: the branch, and on which side.
std::vector<std::pair<const BranchInst *, bool>> conditions_of(const BasicBlock &block) {
  constexpr unsigned kMost = 4;
  std::vector<std::pair<const BranchInst *, bool>> conditions;
  const BasicBlock *at = &block;
  for (unsigned steps = 0; steps < kMost && at != nullptr; ++steps) {
    const BasicBlock *before = at->getSinglePredecessor();
    const auto *branch =
        before == nullptr ? nullptr : dyn_cast<BranchInst>(before->getTerminator());
    if (branch != nullptr && branch->isConditional())
      conditions.emplace_back(branch, branch->getSuccessor(0) == at);
    at = before;
  }
  return conditions;
}

// Whether two conditions are one question, which may be answered in two ways: about one value that
// is loaded again, or to one function.
bool ask_alike(const Value &a, const Value &b) {
  const auto *one = dyn_cast<ICmpInst>(&a);
  const auto *other = dyn_cast<ICmpInst>(&b);
  if (one != nullptr && other != nullptr)
    return one->getPredicate() == other->getPredicate() &&
           one->getOperand(1) == other->getOperand(1) &&
           ask_alike(*one->getOperand(0), *other->getOperand(0));
  const auto *question = dyn_cast<CallBase>(&a);
  const auto *again = dyn_cast<CallBase>(&b);
  if (question == nullptr || again == nullptr)
    return same_value(a, b);
  return question->getCalledOperand() == again->getCalledOperand() &&
         question->arg_size() == again->arg_size() &&
         all_of(zip(question->args(), again->args()), [](const auto &pair) {
           return same_value(*std::get<0>(pair), *std::get<1>(pair));
         });
}

// Whether control may come from the acquisition to the function's end by no release and by none of
// the steps from one block to another.
bool leaves(const Section &section,
            const std::set<std::pair<const BasicBlock *, const BasicBlock *>> &but_by) {
  DenseSet<const Instruction *> releases(section.exits.begin(), section.exits.end());
  releases.insert(section.partial.begin(), section.partial.end());
  DenseSet<const BasicBlock *> seen;
  std::vector<const Instruction *> work{section.entry.call};
  while (!work.empty()) {
    const Instruction *at = work.back();
    work.pop_back();
    while (!at->isTerminator() && !releases.contains(at))
      at = at->getNextNode();
    if (releases.contains(at))
      continue;
    if (isa<ReturnInst, ResumeInst>(at))
      return true;
    for (const BasicBlock *next : successors(at->getParent()))
      if (!but_by.contains({at->getParent(), next}) && seen.insert(next).second)
        work.push_back(&next->front());
  }
  return false;
}

// Whether the lock is acquired and released behind one question, and each way that leaves without a
// release has had another answer at the release.
bool is_asked_alike(const Section &section) {
  const auto asked = conditions_of(*section.entry.call->getParent());
  std::set<std::pair<const BasicBlock *, const BasicBlock *>> other_sides;
  for (const CallBase *exit : section.exits)
    for (const auto &[there, side] : conditions_of(*exit->getParent()))
      for (const auto &[here, entry_side] : asked)
        if (here != there && side == entry_side &&
            ask_alike(*here->getCondition(), *there->getCondition()))
          other_sides.emplace(there->getParent(), there->getSuccessor(side ? 1 : 0));
  return !other_sides.empty() && !leaves(section, other_sides);
}

} // namespace

void find_missing_unlocks(const AnalysisView &view, Findings &findings) {
  const Releases releases = foreign_releases(view);
  for (const Section &section : view.sections) {
    if (section.kind != SectionKind::lock_region || section.shape != RegionShape::escapes ||
        section.exits.empty() || !section.doubt.empty() ||
        section.entry.operation != LockOperation::lock || is_asked_alike(section) ||
        is_handed_on(*section.function, last_name(section.entry.locks.front()), releases))
      continue;
    // A lock that the function returns by design is released by someone else: a caller that has
    // it as an argument, or a function that the program runs by pointer.
    if (!section.function->getReturnType()->isVoidTy() &&
        section.function->getReturnType()->isPointerTy() && section.function->hasNUsesOrMore(1) &&
        !section.function->hasAddressTaken())
      continue;
    const Instruction *out = way_out(section);
    if (out == nullptr)
      continue;
    ReportFinding finding =
        finding_at("missing-unlock", place_of(*section.entry.call),
                   fmt::format("'{}' is acquired here, and '{}' may return without releasing it",
                               section.entry.locks.front(), source_name(*section.function)));
    finding.notes.push_back(note_at(place_of(*out), "it is still held on this way to the end"));
    finding.notes.push_back(
        note_at(place_of(*section.exits.front()), "it is released here on another way"));
    findings.push_back(std::move(finding));
  }
}

} // namespace tandem
