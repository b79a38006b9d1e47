// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/convert/balance.h"

#include "compiler/sections/condition_reads.h"
#include "compiler/sections/flags.h"
#include "compiler/sections/trylock.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace tandem {
namespace {

using namespace llvm;

// More locks at once, or more ways through a function, than anyone writes: then nothing is known.
constexpr unsigned kMostHeld = 8;
constexpr unsigned kMany = 4; // or more, in functions that are declared to be balanced
constexpr std::size_t kMostStates = 50000;

// What is known of conditions without an analysis: that they may change.
class AnyChange final : public Changes {
public:
  bool may_write(const Instruction &, const LoadInst &) override { return asked_ = true; }
  const Instruction *written_beside(const LoadInst &read) override {
    asked_ = true;
    return &read;
  }
  [[nodiscard]] bool asked() const { return asked_; }

private:
  bool asked_ = false;
};

class Walk {
public:
  // `declared`: to be balanced. Paths on which it is not are none; they are told apart by the
  // latest trylock only, or there would be too many.
  Walk(const Function &function, const LockCalls &calls,
       function_ref<bool(const LockSite &)> counts, bool declared, Changes *changes)
      : function_(function), calls_(calls), counts_(counts), declared_(declared),
        flags_(function, &calls, changes) {
    for (const LockSite *site : calls.sites(function))
      if (site->operation == LockOperation::lock && counts(*site))
        for (const BasicBlock &block : function)
          if (const BasicBlock *side = acquired_side(*site, *block.getTerminator(), calls))
            acquired_[block.getTerminator()] = side;
  }

  Balance run() {
    const Instruction &first = function_.getEntryBlock().front();
    push({&function_.getEntryBlock(), 0, nullptr, nullptr, flags_.before(first), {}});
    while (!work_.empty() && result_.good()) {
      State state = std::move(work_.back());
      work_.pop_back();
      if (seen_.size() > kMostStates) {
        result_.returns_inside = true;
        result_.inside = {};
        break;
      }
      walk(std::move(state));
    }
    if (result_.good() && thrown_) {
      fail(result_.returns_inside, *thrown_);
      result_.by_exception = true;
    }
    return result_;
  }

  // Behind run(): as Flags::doubt, for all of the function.
  [[nodiscard]] std::string doubt() const {
    std::vector<const Instruction *> all;
    for (const Instruction &instruction : instructions(function_))
      all.push_back(&instruction);
    return flags_.doubt(all);
  }

  // Behind run(): what no path reaches with none held. Empty where not all paths were looked at.
  DenseSet<const Instruction *> only_inside() {
    for (const Instruction *instruction : outside_)
      result_.inside.erase(instruction);
    return std::move(result_.inside);
  }

private:
  struct State {
    const BasicBlock *block;
    unsigned held;
    const LockSite *tried; // a trylock whose result was not asked for yet
    const CallBase *since; // the latest acquisition; not part of what tells states apart
    Flags::Values flags;
    // Variables that hold a trylock's result: whether it is nonzero.
    std::map<const Value *, bool> results;
    bool operator<(const State &other) const {
      return std::tie(block, held, tried, flags, results) <
             std::tie(other.block, other.held, other.tried, other.flags, other.results);
    }
  };
  using Loaded = std::map<const Value *, bool>; // what was loaded from such variables

  // The function, by a return or an exception that it hands on.
  static bool leaves(const Instruction &instruction) {
    return isa<ReturnInst, ResumeInst>(instruction);
  }

  void push(State state) {
    if (seen_.insert(state).second)
      work_.push_back(std::move(state));
  }

  void walk(State state) {
    Loaded loaded;
    for (const Instruction &instruction : *state.block) {
      note_inside(instruction, state);
      if (const LockSite *site = calls_.at(instruction);
          site != nullptr && counts_(*site) && !operate(*site, state))
        return;
      if (leaves(instruction) && state.held > 0)
        leave_inside(instruction, state.since);
      if (!declared_)
        flags_.apply(instruction, state.flags);
      note(instruction, state, loaded);
    }
    const Instruction &branch = *state.block->getTerminator();
    const auto sure = acquired_.find(&branch);
    const BasicBlock *acquired =
        state.tried == nullptr ? nullptr : acquired_side(*state.tried, branch, calls_);
    for (unsigned number = 0; number < branch.getNumSuccessors(); ++number) {
      State next = state;
      next.block = branch.getSuccessor(number);
      if (sure != acquired_.end() && next.block != sure->second)
        continue;
      if (acquired != nullptr) {
        next.tried = nullptr;
        next.held += next.block == acquired ? 1 : 0;
        remember(*state.tried, next.block == acquired, next);
      } else if (!may_follow(branch, number, loaded)) {
        continue;
      }
      if (!declared_) {
        std::optional<Flags::Values> flags = flags_.follow(branch, number, state.flags);
        if (!flags)
          continue;
        next.flags = std::move(*flags);
      }
      push(std::move(next));
    }
  }

  void note_inside(const Instruction &instruction, const State &state) {
    if (state.held > 0 || state.tried != nullptr)
      result_.inside.insert(&instruction);
    if (state.held == 0)
      outside_.insert(&instruction);
  }

  void note(const Instruction &instruction, State &state, Loaded &loaded) const {
    if (const auto *load = dyn_cast<LoadInst>(&instruction)) {
      if (const auto found = state.results.find(load->getPointerOperand());
          found != state.results.end())
        loaded[load] = found->second;
    } else if (const auto *store = dyn_cast<StoreInst>(&instruction)) {
      const Value *variable = store->getPointerOperand();
      state.results.erase(variable);
      if (const auto *value = dyn_cast<Constant>(store->getValueOperand());
          value != nullptr && value->isNullValue() && is_result(variable) && !declared_)
        state.results[variable] = false;
    }
  }

  // Whether `variable` is a local one that is only loaded and stored: it may hold a result.
  static bool is_result(const Value *variable) {
    const auto *slot = dyn_cast<AllocaInst>(variable);
    return slot != nullptr && is_flag(*slot);
  }

  // What a trylock's result tells of the variables that it was stored in, in its own block.
  static void remember(const LockSite &tried, bool acquired, State &state) {
    if (tried.acquired == Acquired::minus_one)
      return;
    for (const User *user : tried.call->users())
      if (const auto *store = dyn_cast<StoreInst>(user);
          store != nullptr && store->getParent() == tried.call->getParent() &&
          is_result(store->getPointerOperand()))
        state.results[store->getPointerOperand()] =
            acquired == (tried.acquired == Acquired::nonzero);
  }

  static bool may_follow(const Instruction &terminator, unsigned number, const Loaded &loaded) {
    const auto *branch = dyn_cast<BranchInst>(&terminator);
    const auto *compare = branch == nullptr || branch->isUnconditional()
                              ? nullptr
                              : dyn_cast<ICmpInst>(branch->getCondition());
    if (compare == nullptr || !compare->isEquality())
      return true;
    const auto found = loaded.find(compare->getOperand(0));
    const auto *constant = dyn_cast<Constant>(compare->getOperand(1));
    if (found == loaded.end() || constant == nullptr || !constant->isNullValue())
      return true;
    const bool condition = found->second == (compare->getPredicate() == ICmpInst::ICMP_NE);
    return condition == (number == 0);
  }

  // False: what follows is not looked at.
  bool operate(const LockSite &site, State &state) {
    if (state.tried != nullptr) {
      // It may have acquired or not: both.
      state.tried = nullptr;
      State other = state;
      ++other.held;
      if (!resume(site, std::move(other)))
        return false;
    }
    return apply(site, state);
  }

  bool apply(const LockSite &site, State &state) {
    switch (site.operation) {
    case LockOperation::lock:
      ++state.held;
      state.since = site.call;
      break;
    case LockOperation::trylock:
      state.tried = &site;
      state.since = site.call;
      if (declared_)
        state.results.clear();
      break;
    case LockOperation::unlock:
      if (state.held == 0) {
        fail(result_.releases_callers, site.call);
        return false;
      }
      if (declared_ && state.held == kMany)
        go_on_behind(site, state);
      --state.held;
      break;
    case LockOperation::wait:
      break;
    }
    if (declared_)
      state.held = std::min(state.held, kMany);
    if (state.held > kMostHeld) {
      fail(result_.returns_inside, site.call);
      return false;
    }
    return true;
  }

  // The rest of the block with another number of locks, as if the trylock had acquired.
  bool resume(const LockSite &site, State state) {
    if (apply(site, state))
      go_on_behind(site, std::move(state));
    return true;
  }

  // Stores in that part are not looked at.
  void go_on_behind(const LockSite &site, State state) {
    bool behind = false;
    if (declared_)
      state.results.clear();
    for (const Instruction &instruction : *state.block) {
      if (&instruction == site.call) {
        behind = true;
        continue;
      }
      if (!behind)
        continue;
      note_inside(instruction, state);
      if (const LockSite *next = calls_.at(instruction);
          next != nullptr && counts_(*next) && !operate(*next, state))
        return;
      if (leaves(instruction) && state.held > 0)
        leave_inside(instruction, state.since);
    }
    for (const BasicBlock *next : successors(state.block)) {
      State there = state;
      there.block = next;
      push(std::move(there));
    }
  }

  // A return says more than an exception on another way.
  void leave_inside(const Instruction &instruction, const CallBase *since) {
    if (isa<ReturnInst>(instruction))
      fail(result_.returns_inside, since);
    else if (!thrown_ && !declared_)
      thrown_ = since;
  }

  void fail(bool &what, const CallBase *at) {
    if (declared_)
      return;
    if (result_.good())
      result_.at = at;
    what = true;
  }

  const Function &function_;
  const LockCalls &calls_;
  const function_ref<bool(const LockSite &)> counts_;
  const bool declared_;
  const Flags flags_;
  // Where branches that ask whether an acquisition failed go on: as a section's it does not.
  DenseMap<const Instruction *, const BasicBlock *> acquired_;
  std::set<State> seen_;
  std::vector<State> work_;
  DenseSet<const Instruction *> outside_;
  // The latest acquisition of what it holds where it hands on an exception.
  std::optional<const CallBase *> thrown_;
  Balance result_;
};

} // namespace

Balance balance_of(const Function &function, const LockCalls &calls, const NamedLocks &named,
                   Changes &changes) {
  return balance_of(
      function, calls, [&](const LockSite &site) { return named.section_of(site).has_value(); },
      changes);
}

Balance balance_of(const Function &function, const LockCalls &calls,
                   function_ref<bool(const LockSite &)> counts, Changes &changes) {
  AnyChange any;
  Balance most = Walk(function, calls, counts, /*declared=*/false, &any).run();
  if (!any.asked())
    return most;
  // What is true lies between these two: with each condition that is followed there are fewer ways.
  Balance least = Walk(function, calls, counts, /*declared=*/false, nullptr).run();
  if (most.good() == least.good() && (!most.good() || most.inside == least.inside))
    return least;
  Walk walk(function, calls, counts, /*declared=*/false, &changes);
  Balance balance = walk.run();
  if (!balance.good() && least.good())
    balance.doubt = walk.doubt();
  return balance;
}

DenseSet<const Instruction *> always_inside(const Function &function, const LockCalls &calls,
                                            const NamedLocks &named) {
  const auto counts = [&](const LockSite &site) { return named.section_of(site).has_value(); };
  Walk walk(function, calls, counts, /*declared=*/true, nullptr);
  walk.run();
  return walk.only_inside();
}

} // namespace tandem
