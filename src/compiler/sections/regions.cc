// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/regions.h"

#include "compiler/sections/called_function.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace tandem {
namespace {

using namespace llvm;

// Locks (by path) that a function releases without having acquired them: its caller's.
using ForeignReleases = std::map<const Function *, std::set<std::string>>;

bool releases(const LockSite &site, const std::string &lock) {
  return site.lock == lock &&
         (site.operation == LockOperation::unlock || site.operation == LockOperation::wait);
}

bool acquires(const LockSite &site, const std::string &lock) {
  return site.lock == lock &&
         (site.operation == LockOperation::lock || site.operation == LockOperation::trylock);
}

// Whether some path from the entry of `function` releases `lock` before it acquires it.
bool releases_callers(const Function &function, const std::string &lock, const LockCalls &calls,
                      const ForeignReleases &known) {
  SmallPtrSet<const BasicBlock *, 16> seen;
  SmallVector<const BasicBlock *, 16> work{&function.getEntryBlock()};
  while (!work.empty()) {
    const BasicBlock *block = work.pop_back_val();
    if (!seen.insert(block).second)
      continue;
    bool acquired = false;
    for (const Instruction &instruction : *block) {
      if (const LockSite *site = calls.at(instruction)) {
        if (releases(*site, lock) && !site->own)
          return true;
        if (acquires(*site, lock)) {
          acquired = true;
          break;
        }
      } else if (const auto *call = dyn_cast<CallBase>(&instruction)) {
        const Function *callee = called_function(*call);
        const auto found = callee == nullptr ? known.end() : known.find(callee);
        if (found != known.end() && found->second.contains(lock))
          return true;
      }
    }
    if (!acquired)
      append_range(work, successors(block));
  }
  return false;
}

ForeignReleases find_foreign_releases(const Module &module, const LockCalls &calls) {
  ForeignReleases known;
  std::map<const Function *, std::set<std::string>> candidates;
  for (const Function &function : module)
    for (const LockSite *site : calls.sites(function))
      if (site->operation == LockOperation::unlock && site->named && !calls.is_wrapper(function))
        candidates[&function].insert(site->lock);
  std::vector<std::pair<const Function *, std::string>> work;
  for (const auto &[function, locks] : candidates)
    for (const std::string &lock : locks)
      work.emplace_back(function, lock);
  while (!work.empty()) {
    const auto [function, lock] = std::move(work.back());
    work.pop_back();
    if (known[function].contains(lock) || !releases_callers(*function, lock, calls, known))
      continue;
    known[function].insert(lock);
    for (const User *user : function->users())
      if (const auto *call = dyn_cast<CallBase>(user); call && called_function(*call) == function)
        work.emplace_back(call->getFunction(), lock);
  }
  return known;
}

class RegionFinder {
public:
  RegionFinder(const LockCalls &calls, const ForeignReleases &foreign)
      : calls_(calls), foreign_(foreign) {}

  Region find(const LockSite &entry) {
    Region region;
    region.entry = entry;
    SmallPtrSet<const BasicBlock *, 16> seen;
    SmallVector<BasicBlock::const_iterator, 16> work{
        std::next(BasicBlock::const_iterator(entry.call))};
    if (const auto *invoke = dyn_cast<InvokeInst>(entry.call))
      work = {invoke->getNormalDest()->begin()};
    while (!work.empty())
      walk(region, work.pop_back_val(), seen, work);
    std::sort(region.exits.begin(), region.exits.end(), [](auto *a, auto *b) {
      return a->getDebugLoc() && b->getDebugLoc() &&
             a->getDebugLoc().getLine() < b->getDebugLoc().getLine();
    });
    return region;
  }

private:
  // Follows one straight run of instructions until the region ends or the block does.
  void walk(Region &region, BasicBlock::const_iterator begin,
            SmallPtrSetImpl<const BasicBlock *> &seen,
            SmallVectorImpl<BasicBlock::const_iterator> &work) {
    const BasicBlock *block = begin->getParent();
    for (auto at = begin; at != block->end(); ++at) {
      if (ends(region, *at))
        return;
      region.body.push_back(&*at);
      if (isa<ReturnInst>(*at) || isa<ResumeInst>(*at))
        region.shape = RegionShape::escapes;
    }
    const BasicBlock *only = acquired_side(region.entry, *block->getTerminator());
    for (const BasicBlock *next : successors(block))
      if ((only == nullptr || next == only) && seen.insert(next).second)
        work.push_back(next->begin());
  }

  bool ends(Region &region, const Instruction &instruction) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    if (call == nullptr)
      return false;
    if (call == region.entry.call) { // a loop leads back to the acquisition
      if (region.entry.operation == LockOperation::wait)
        region.exits.push_back(call);
      return true;
    }
    if (const LockSite *site = calls_.at(instruction)) {
      if (!releases(*site, region.entry.lock))
        return false;
      region.exits.push_back(call);
      return true;
    }
    const Function *callee = called_function(*call);
    const auto found = callee == nullptr ? foreign_.end() : foreign_.find(callee);
    if (found == foreign_.end() || !region.entry.named ||
        !found->second.contains(region.entry.lock))
      return false;
    region.exits.push_back(call);
    region.shape = RegionShape::escapes;
    return true;
  }

  // Where the branch asks whether the trylock at `entry` succeeded: the block that runs if it did.
  static const BasicBlock *acquired_side(const LockSite &entry, const Instruction &terminator) {
    const auto *branch = dyn_cast<BranchInst>(&terminator);
    if (entry.operation != LockOperation::trylock || branch == nullptr || branch->isUnconditional())
      return nullptr;
    const auto *compare = dyn_cast<ICmpInst>(branch->getCondition());
    if (compare == nullptr || !compare->isEquality() ||
        !(match(compare->getOperand(1), PatternMatch::m_Zero()) ||
          isa<ConstantPointerNull>(compare->getOperand(1))) ||
        !is_result(compare->getOperand(0), entry))
      return nullptr;
    const bool true_side_is_zero = compare->getPredicate() == ICmpInst::ICMP_EQ;
    return branch->getSuccessor(true_side_is_zero == entry.acquired_is_zero ? 0 : 1);
  }

  // Whether `value` is the result of the call, or a variable that holds results of such calls.
  static bool is_result(const Value *value, const LockSite &entry) {
    if (value == entry.call)
      return true;
    const auto *load = dyn_cast<LoadInst>(value);
    if (load == nullptr || !isa<AllocaInst>(load->getPointerOperand()))
      return false;
    return any_of(entry.call->users(), [&](const User *user) {
      const auto *store = dyn_cast<StoreInst>(user);
      return store != nullptr && store->getPointerOperand() == load->getPointerOperand();
    });
  }

  const LockCalls &calls_;
  const ForeignReleases &foreign_;
};

// Marks regions during which another region begins that is still open when they end.
void mark_not_nested(std::vector<Region *> &regions) {
  for (Region *outer : regions) {
    if (outer->shape != RegionShape::same_function)
      continue;
    const SmallPtrSet<const Instruction *, 32> body(outer->body.begin(), outer->body.end());
    for (const Region *inner : regions) {
      if (inner == outer || inner->entry.lock == outer->entry.lock ||
          !body.contains(inner->entry.call))
        continue;
      const SmallPtrSet<const Instruction *, 32> inner_body(inner->body.begin(), inner->body.end());
      if (any_of(outer->exits, [&](const CallBase *exit) { return inner_body.contains(exit); })) {
        outer->shape = RegionShape::not_nested;
        break;
      }
    }
  }
}

} // namespace

std::vector<Region> find_regions(const Module &module, const LockCalls &calls) {
  const ForeignReleases foreign = find_foreign_releases(module, calls);
  RegionFinder finder(calls, foreign);
  std::vector<Region> regions;
  for (const Function &function : module) {
    if (function.isDeclaration() || calls.is_wrapper(function))
      continue;
    const std::size_t first = regions.size();
    for (const LockSite *site : calls.sites(function))
      if (site->operation != LockOperation::unlock)
        regions.push_back(finder.find(*site));
    std::vector<Region *> own;
    for (std::size_t i = first; i < regions.size(); ++i)
      own.push_back(&regions[i]);
    mark_not_nested(own);
  }
  return regions;
}

} // namespace tandem
