// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/regions.h"

#include "base/check.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/flags.h"
#include "compiler/sections/origin.h"
#include "compiler/sections/trylock.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace tandem {
namespace {

using namespace llvm;

bool ends_regions(const LockSite &site) {
  return !site.empty &&
         (site.operation == LockOperation::unlock || site.operation == LockOperation::wait);
}

// Whether `site` is on the entry's lock of that number by its name. What a lambda has captured, or
// a local variable, may be called as a global one.
bool is_named_alike(const LockSite &site, const LockSite &entry, std::size_t number) {
  for (std::size_t i = 0; i < site.locks.size(); ++i)
    if (site.locks[i] == entry.locks[number] && site.roots[i] == entry.roots[number])
      return true;
  return false;
}

// Whether `site` is on a lock of that name, which is a global variable's.
bool is_on_variable(const LockSite &site, const std::string &lock) {
  for (std::size_t i = 0; i < site.locks.size(); ++i)
    if (site.locks[i] == lock && site.roots[i] != nullptr)
      return true;
  return false;
}

// Whether `site` releases the entry's lock of that number: it has its name, or its address is
// computed alike.
bool releases(const LockSite &site, const LockSite &entry, std::size_t number) {
  if (!ends_regions(site))
    return false;
  if (is_named_alike(site, entry, number))
    return true;
  if (number >= entry.resolved.size())
    return false;
  const LockSite::Target &lock = entry.resolved[number];
  const DataLayout &layout = entry.call->getModule()->getDataLayout();
  return any_of(site.resolved, [&](const LockSite::Target &target) {
    return target.base != nullptr && lock.base != nullptr && target.offsets.size() == 1 &&
           lock.offsets.size() == 1 && target.base->getType()->isPointerTy() &&
           lock.base->getType()->isPointerTy() &&
           same_address(*lock.base, lock.offsets.front(), *target.base, target.offsets.front(),
                        layout);
  });
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
        if (ends_regions(*site) && is_on_variable(*site, lock) && !site->own)
          return true;
        if (site->operation != LockOperation::unlock && site->operation != LockOperation::wait &&
            is_on_variable(*site, lock)) {
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

// Follows a region from its acquisition. A state is a place, which of the region's locks are still
// held there (bit i: entry.locks[i]), and what is known of the function's flags.
class RegionWalk {
public:
  // `flags` may be null: then none is followed.
  RegionWalk(const LockSite &entry, const LockCalls &calls, const ForeignReleases &foreign,
             const Flags *flags)
      : entry_(entry), calls_(calls), foreign_(foreign), flags_(flags) {}

  // False: too many states.
  bool run() {
    CHECK(entry_.locks.size() <= 64, "{} locks at once", entry_.locks.size());
    State first{nullptr, ~std::uint64_t{0} >> (64 - entry_.locks.size()), {}};
    if (flags_ != nullptr)
      first.flags = flags_->before(*entry_.call);
    if (entry_.runs_code)
      body_.insert(entry_.call);
    if (const auto *invoke = dyn_cast<InvokeInst>(entry_.call)) {
      first.block = invoke->getNormalDest();
      push(first);
    } else {
      first.block = entry_.call->getParent();
      walk(std::next(BasicBlock::const_iterator(entry_.call)), first);
    }
    while (!work_.empty()) {
      if (flags_ != nullptr && seen_.size() > kMaxStates)
        return complete_ = false;
      const State state = std::move(work_.back());
      work_.pop_back();
      walk(state.block->begin(), state);
    }
    return true;
  }

  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] bool escapes() const { return escapes_; }

  Region region(RegionShape shape) const {
    Region region{entry_, {}, {partial_.begin(), partial_.end()}, {body_.begin(), body_.end()},
                  shape,  ""};
    const auto line = [](const CallBase *exit) {
      return exit->getDebugLoc() ? exit->getDebugLoc().getLine() : 0;
    };
    for (const CallBase *exit : exits_)
      region.exits.insert(std::upper_bound(region.exits.begin(), region.exits.end(), exit,
                                           [&](auto *a, auto *b) { return line(a) < line(b); }),
                          exit);
    return region;
  }

private:
  struct State {
    const BasicBlock *block;
    std::uint64_t held;
    Flags::Values flags;
    bool operator<(const State &other) const {
      return std::tie(block, held, flags) < std::tie(other.block, other.held, other.flags);
    }
  };

  void push(const State &state) {
    if (seen_.insert(state).second)
      work_.push_back(state);
  }

  // Follows one straight run of instructions until the region ends or the block does.
  void walk(BasicBlock::const_iterator begin, State state) {
    const BasicBlock *block = state.block;
    for (auto at = begin; at != block->end(); ++at) {
      if (ends(*at, state.held))
        return;
      body_.insert(&*at);
      escapes_ = escapes_ || isa<ReturnInst>(*at) || isa<ResumeInst>(*at);
      if (flags_ != nullptr)
        flags_->apply(*at, state.flags);
    }
    const Instruction &branch = *block->getTerminator();
    const BasicBlock *only = acquired_side(entry_, branch, calls_);
    for (unsigned number = 0; number < branch.getNumSuccessors(); ++number) {
      State next{branch.getSuccessor(number), state.held, state.flags};
      if (only != nullptr && next.block != only)
        continue;
      if (flags_ != nullptr) {
        std::optional<Flags::Values> flags = flags_->follow(branch, number, state.flags);
        if (!flags)
          continue;
        next.flags = std::move(*flags);
      }
      push(next);
    }
  }

  // Whether the region ends at `instruction`; else `held` is what it leaves held.
  bool ends(const Instruction &instruction, std::uint64_t &held) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    if (call == nullptr)
      return false;
    if (call == entry_.call) { // a loop leads back to the acquisition
      if (entry_.operation == LockOperation::wait)
        exits_.insert(call);
      return true;
    }
    if (const LockSite *site = calls_.at(instruction)) {
      const std::uint64_t before = held;
      for (std::size_t i = 0; i < entry_.locks.size(); ++i)
        if (releases(*site, entry_, i))
          held &= ~(std::uint64_t{1} << i);
      if (held != 0) {
        if (held != before)
          partial_.insert(call);
        return false;
      }
      exits_.insert(call);
      if (site->runs_code)
        body_.insert(call);
      return true;
    }
    const Function *callee = called_function(*call);
    const auto found = callee == nullptr ? foreign_.end() : foreign_.find(callee);
    if (found == foreign_.end() || !entry_.named)
      return false;
    for (std::size_t i = 0; i < entry_.locks.size(); ++i)
      if (found->second.contains(entry_.locks[i]))
        held &= ~(std::uint64_t{1} << i);
    if (held != 0)
      return false;
    exits_.insert(call);
    escapes_ = true;
    return true;
  }

  static constexpr std::size_t kMaxStates = 20000;

  const LockSite &entry_;
  const LockCalls &calls_;
  const ForeignReleases &foreign_;
  const Flags *flags_;
  std::set<State> seen_;
  std::vector<State> work_;
  SetVector<const CallBase *> exits_;
  SetVector<const CallBase *> partial_;
  SetVector<const Instruction *> body_;
  bool complete_ = true;
  bool escapes_ = false;
};

// Flags of a function, made where they are asked for.
struct FunctionFlags {
  const Function &function;
  const LockCalls &calls;
  Changes *changes;
  const Flags compilers{function, nullptr};
  const Flags all{function, &calls, changes};
  std::optional<Flags> trusting{}; // as if no condition changed
};

Region find_region(const LockSite &entry, const LockCalls &calls, const ForeignReleases &foreign,
                   FunctionFlags &flags) {
  RegionWalk plain(entry, calls, foreign, &flags.compilers);
  if (plain.run() && !plain.escapes())
    return plain.region(RegionShape::same_function);
  RegionWalk guarded(entry, calls, foreign, &flags.all);
  if (guarded.run() && !guarded.escapes())
    return guarded.region(RegionShape::flag_guarded);
  // Without flags there are no more states than blocks and sets of locks.
  RegionWalk everywhere(entry, calls, foreign, nullptr);
  everywhere.run();
  Region region = (plain.complete() ? plain : everywhere).region(RegionShape::escapes);
  if (std::string doubt = flags.changes == nullptr ? "" : flags.all.doubt(region.body);
      !doubt.empty()) {
    if (!flags.trusting)
      flags.trusting.emplace(flags.function, &flags.calls);
    RegionWalk trusting(entry, calls, foreign, &*flags.trusting);
    if (trusting.run() && !trusting.escapes())
      region.doubt = std::move(doubt);
  }
  return region;
}

bool have_common_lock(const LockSite &a, const LockSite &b) {
  for (std::size_t i = 0; i < b.locks.size(); ++i)
    if (is_named_alike(a, b, i))
      return true;
  return false;
}

// Marks regions during which another region begins that is still open when they end.
void mark_not_nested(std::vector<Region *> &regions) {
  for (Region *outer : regions) {
    if (outer->shape != RegionShape::same_function)
      continue;
    const SmallPtrSet<const Instruction *, 32> body(outer->body.begin(), outer->body.end());
    for (const Region *inner : regions) {
      if (inner == outer || have_common_lock(inner->entry, outer->entry) ||
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

ForeignReleases find_foreign_releases(const Module &module, const LockCalls &calls) {
  ForeignReleases known;
  std::map<const Function *, std::set<std::string>> candidates;
  for (const Function &function : module)
    for (const LockSite *site : calls.sites(function))
      if (site->operation == LockOperation::unlock && site->named && !calls.is_wrapper(function))
        candidates[&function].insert(site->locks.begin(), site->locks.end());
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

std::vector<Region> find_regions_in(const Function &function, const LockCalls &calls,
                                    const ForeignReleases &foreign, Changes *changes) {
  std::vector<Region> regions;
  const std::vector<const LockSite *> sites = calls.sites(function);
  if (sites.empty())
    return regions;
  FunctionFlags flags{function, calls, changes};
  for (const LockSite *site : sites)
    if (site->operation != LockOperation::unlock)
      regions.push_back(find_region(*site, calls, foreign, flags));
  std::vector<Region *> own;
  for (Region &region : regions)
    own.push_back(&region);
  mark_not_nested(own);
  return regions;
}

std::vector<Region> find_regions(const Module &module, const LockCalls &calls,
                                 const ForeignReleases &foreign, Changes *changes) {
  std::vector<Region> regions;
  for (const Function &function : module)
    if (!function.isDeclaration() && !calls.is_wrapper(function))
      for (Region &region : find_regions_in(function, calls, foreign, changes))
        regions.push_back(std::move(region));
  return regions;
}

} // namespace tandem
