// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// missing-unlock: a function releases a lock on some ways to its end and not on others, and nothing
// in the program releases it for such a function. Not where the same condition decides about the
// acquisition and the release, although it may change in between, and all ways that keep the lock
// come by that condition: that is meant to be the same. Nor where one loop acquires locks and
// another loop that runs alike releases them, in each of its rounds or behind such a condition.
#include "compiler/effects/unpublished.h"
#include "compiler/findings/loops.h"
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
  if (takes_address_of(function))
    return any_of(releases, [&](const auto &of) { return of.second.contains(lock); });
  return steps > 0 && any_of(function.users(), [&](const User *user) {
           const auto *call = dyn_cast<CallBase>(user);
           return call != nullptr &&
                  (releases_for_caller(*call->getFunction(), lock, releases, kMostSteps) ||
                   is_handed_on(*call->getFunction(), lock, releases, steps - 1));
         });
}

using Counters = std::pair<const Value *, const Value *>; // of two loops that run alike

// Whether two values are computed alike, the one from the first counter as the other one is from
// the second.
bool same_in_round(const Value &a, const Value &b, const Counters &counters, unsigned depth = 12) {
  const auto *one = dyn_cast<Instruction>(&a);
  const auto *other = dyn_cast<Instruction>(&b);
  if (same_value(a, b) || (&a == counters.first && &b == counters.second))
    return true;
  return depth > 0 && one != nullptr && other != nullptr && one->getNumOperands() > 0 &&
         !isa<CallBase, PHINode, AllocaInst>(one) && one->isSameOperationAs(other) &&
         all_of(zip(one->operands(), other->operands()), [&](const auto &pair) {
           return same_in_round(*std::get<0>(pair), *std::get<1>(pair), counters, depth - 1);
         });
}

// Whether two conditions are one question, which may be answered in two ways: about one value that
// is loaded again, or to one function.
bool ask_alike(const Value &a, const Value &b, const Counters &counters) {
  const auto *one = dyn_cast<ICmpInst>(&a);
  const auto *other = dyn_cast<ICmpInst>(&b);
  if (one != nullptr && other != nullptr)
    return one->getPredicate() == other->getPredicate() &&
           one->getOperand(1) == other->getOperand(1) &&
           ask_alike(*one->getOperand(0), *other->getOperand(0), counters);
  const auto *question = dyn_cast<CallBase>(&a);
  const auto *again = dyn_cast<CallBase>(&b);
  if (question == nullptr || again == nullptr)
    return same_in_round(a, b, counters);
  return question->getCalledOperand() == again->getCalledOperand() &&
         question->arg_size() == again->arg_size() &&
         all_of(zip(question->args(), again->args()), [&](const auto &pair) {
           return same_in_round(*std::get<0>(pair), *std::get<1>(pair), counters);
         });
}

using Steps = std::set<std::pair<const BasicBlock *, const BasicBlock *>>; // from one to another

// Whether control may come from an instruction to the end of a block that is asked for, by no
// release of the section and by none of the steps.
bool comes_to(function_ref<bool(const BasicBlock &)> is_asked_for, const Instruction &from,
              const Section &section, const Steps &but_by) {
  DenseSet<const Instruction *> releases(section.exits.begin(), section.exits.end());
  releases.insert(section.partial.begin(), section.partial.end());
  DenseSet<const BasicBlock *> seen;
  std::vector<const Instruction *> work{&from};
  while (!work.empty()) {
    const Instruction *at = work.back();
    work.pop_back();
    while (!at->isTerminator() && !releases.contains(at))
      at = at->getNextNode();
    if (releases.contains(at))
      continue;
    if (is_asked_for(*at->getParent()))
      return true;
    for (const BasicBlock *next : successors(at->getParent()))
      if (!but_by.contains({at->getParent(), next}) && seen.insert(next).second)
        work.push_back(&next->front());
  }
  return false;
}

// The innermost loop around a release, if it runs like the innermost one around the acquisition and
// neither is in the other one; null if not.
const Loop *releasing_loop(const Section &section, const CallBase &exit, const Loops &loops) {
  const Loop *acquiring = loops.around(*section.entry.call);
  const Loop *releasing = loops.around(exit);
  return acquiring != nullptr && releasing != nullptr && !releasing->contains(acquiring) &&
                 !acquiring->contains(releasing) && loops.run_alike(*section.entry.call, exit)
             ? releasing
             : nullptr;
}

// Whether a branch is how the innermost loop around an instruction comes to its own end.
bool ends_loop(const BranchInst &branch, const Instruction &at, const Loops &loops) {
  const Loop *loop = loops.around(at);
  return loop != nullptr && branch.getParent() == loop->getHeader() &&
         loop->isLoopExiting(branch.getParent());
}

// Whether a branch asks whether the address of what a call releases is null, and the side where it
// is not: what is held has an address.
bool asks_for_address(const BranchInst &branch, bool side, const CallBase &release) {
  const auto *compare = dyn_cast<ICmpInst>(branch.getCondition());
  return compare != nullptr && compare->isEquality() &&
         isa<ConstantPointerNull>(compare->getOperand(1)) &&
         (compare->getPredicate() == ICmpInst::ICMP_NE) == side &&
         any_of(release.args(), [&](const Use &argument) {
           return same_value(*argument, *compare->getOperand(0));
         });
}

// Where the lock is acquired and released behind one question, or released unless it is at no
// address: the steps to another answer at the release. How often two loops run is no question:
// run_alike() tells.
Steps other_answers(const Section &section, const Loops &loops) {
  const auto asked = loops.conditions_of(*section.entry.call->getParent());
  Steps others;
  for (const CallBase *exit : section.exits) {
    Counters counters;
    if (const Loop *releasing = releasing_loop(section, *exit, loops))
      counters = {loops.counter_of(*loops.around(*section.entry.call)),
                  loops.counter_of(*releasing)};
    for (const auto &[there, side] : loops.conditions_of(*exit->getParent())) {
      if (asks_for_address(*there, side, *exit))
        others.emplace(there->getParent(), there->getSuccessor(side ? 1 : 0));
      for (const auto &[here, entry_side] : asked)
        if (here != there && side == entry_side && !ends_loop(*here, *section.entry.call, loops) &&
            !ends_loop(*there, *exit, loops) &&
            ask_alike(*here->getCondition(), *there->getCondition(), counters))
          others.emplace(there->getParent(), there->getSuccessor(side ? 1 : 0));
    }
  }
  return others;
}

// Where a loop releases a lock in each round: the steps by which it comes to its end. `answers` are
// not taken.
Steps ends_of_releasing_loops(const Section &section, const Loops &loops, const Steps &answers) {
  Steps ends;
  for (const CallBase *exit : section.exits) {
    const Loop *releasing = releasing_loop(section, *exit, loops);
    if (releasing == nullptr)
      continue;
    const BasicBlock &header = *releasing->getHeader();
    const auto goes_round = [&](const BasicBlock &block) {
      return releasing->contains(&block) && is_contained(successors(&block), &header);
    };
    for (const BasicBlock *next : successors(&header)) {
      if (releasing->contains(next))
        continue;
      Steps others = answers;
      others.emplace(&header, next);
      if (!comes_to(goes_round, header.front(), section, others))
        ends.emplace(&header, next);
    }
  }
  return ends;
}

// Whether each way to the function's end that releases nothing has had another answer to the
// question that the lock was acquired behind, or has come through a loop of releases.
bool is_released_alike(const Section &section) {
  const Loops loops(*section.function);
  Steps steps = other_answers(section, loops);
  steps.merge(ends_of_releasing_loops(section, loops, steps));
  const auto is_end = [](const BasicBlock &block) {
    return isa<ReturnInst, ResumeInst>(block.getTerminator());
  };
  return !steps.empty() && !comes_to(is_end, *section.entry.call, section, steps);
}

// Whether the function gives its caller's lock up and takes it again: some release of the region
// comes before all acquisitions that it may belong to, and leads to the region's.
bool takes_again(const Section &section, const AnalysisView &view) {
  return any_of(section.exits, [&](const CallBase *exit) {
    if (!may_follow(*section.entry.call, *exit))
      return false;
    SmallPtrSet<const Instruction *, 4> acquisitions;
    for (const Section &other : view.sections)
      if (other.kind == SectionKind::lock_region && is_contained(other.exits, exit))
        acquisitions.insert(other.entry.call);
    SmallPtrSet<const BasicBlock *, 16> seen;
    std::vector<const BasicBlock *> work{&section.function->getEntryBlock()};
    while (!work.empty()) {
      const BasicBlock *block = work.back();
      work.pop_back();
      if (!seen.insert(block).second)
        continue;
      const auto stop = find_if(*block, [&](const Instruction &instruction) {
        return &instruction == exit || acquisitions.contains(&instruction);
      });
      if (stop == block->end())
        append_range(work, successors(block));
      else if (&*stop == exit)
        return true;
    }
    return false;
  });
}

} // namespace

void find_missing_unlocks(const AnalysisView &view, Findings &findings) {
  const Releases releases = foreign_releases(view);
  for (const Section &section : view.sections) {
    if (section.kind != SectionKind::lock_region || section.shape != RegionShape::escapes ||
        section.exits.empty() || !section.doubt.empty() ||
        section.entry.operation != LockOperation::lock || is_released_alike(section) ||
        takes_again(section, view) ||
        is_handed_on(*section.function, last_name(section.entry.locks.front()), releases))
      continue;
    // A lock that the function returns by design is released by someone else: a caller that has
    // it as an argument, or a function that the program runs by pointer.
    if (!section.function->getReturnType()->isVoidTy() &&
        section.function->getReturnType()->isPointerTy() && section.function->hasNUsesOrMore(1) &&
        !takes_address_of(*section.function))
      continue;
    const Instruction *out = way_out(section);
    if (out == nullptr)
      continue;
    ReportFinding finding =
        finding_at("missing-unlock", place_of(*section.entry.call),
                   fmt::format("'{}' is acquired here, and '{}' may return without releasing it",
                               section.entry.locks.front(), shown_name(*section.function)));
    finding.notes.push_back(note_at(place_of(*out), "it is still held on this way to the end"));
    finding.notes.push_back(
        note_at(place_of(*section.exits.front()), "it is released here on another way"));
    findings.push_back(std::move(finding));
  }
}

} // namespace tandem
