// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one section does: its own instructions, what its calls add, and a way to each irrevocable
// action and a place of each access, found along the calls.
#include "compiler/effects/effects.h"

#include "compiler/points_to/element_set.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/promises.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/PostDominators.h"

#include <algorithm>
#include <string_view>

namespace tandem {

using namespace llvm;

namespace {

// An array of that many targets leads to much of the program; sections that call it share what is
// found beyond.
constexpr std::size_t kManyTargets = 64;

} // namespace

const Effects::Beyond &Effects::beyond(ArrayRef<const Function *> targets) {
  const auto [known, fresh] = beyond_.try_emplace(targets.data());
  Beyond &found = known->second;
  if (!fresh)
    return found;
  std::vector<std::pair<const Function *, std::uint32_t>> order;
  const auto reach = [&](const Function *function, const Instruction *call, std::uint32_t depth) {
    if (found.reached_by.try_emplace(function, call).second)
      order.emplace_back(function, depth);
  };
  for (const Function *target : targets)
    reach(target, nullptr, 0);
  ElementSet accesses; // twice the location, and one more if it is written
  std::set<std::pair<std::string, bool>> actions;
  DenseSet<const Function *const *> arrays{targets.data()};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto [function, depth] = order[i];
    const FunctionFacts &facts = facts_of(*function);
    for (const SectionAccess &access : accesses_of(*function))
      if (accesses.insert(2 * access.location + (access.writes ? 1 : 0)))
        found.accesses.emplace_back(depth, access);
    for (const auto &[callee, action] : facts.irrevocable)
      if (!is_pure(*function) && actions.emplace(callee, action.second).second)
        found.actions.push_back({depth, callee, action.second, action.first});
    append_range(found.lock_operations, facts.lock_operations);
    for (const Call &call : facts.calls)
      if (call.targets.size() == 1 || arrays.insert(call.targets.data()).second)
        for (const Function *target : call.targets)
          reach(target, call.call, depth + 1);
  }
  return found;
}

// Breadth first along the calls, so that the chain to each irrevocable callee is a shortest one. It
// ends when it has found all that the section is known to do.
class Effects::Walk {
public:
  // `summary` is what the section does; `result` has its reads and writes.
  Walk(Effects &effects, const Section &section, const Summary &summary, SectionEffects &result)
      : effects_(effects), section_(section), result_(result),
        is_region_(section.kind == SectionKind::lock_region), reads_(bits(result.reads)),
        writes_(bits(result.writes)), accesses_(result.reads.size() + result.writes.size()),
        collects_locks_(!is_region_ && summary.has_lock_operations) {
    for (const unsigned number : summary.actions)
      if (const auto &[name, is_lock] = effects.actions_met_[number]; counts(is_lock))
        wanted_.insert(name);
  }

  void run(const FunctionFacts &start) {
    visit(start, effects_.accesses_of(start), nullptr);
    std::size_t next = 0;
    for (std::uint32_t depth = 0; !is_complete() && (next < order_.size() || has_more()); ++depth) {
      next_depth_ = depth + 1;
      for (const std::size_t end = order_.size(); next < end; ++next)
        visit(effects_.facts_of(*order_[next]), effects_.accesses_of(*order_[next]), order_[next]);
      for (Joined &joined : joined_)
        take(joined, depth);
    }
    for (auto &[callee, entry] : irrevocable_)
      result_.irrevocable.push_back(std::move(entry));
  }

private:
  // An array of targets that the section calls, and how far it has been followed.
  struct Joined {
    const Beyond *beyond;
    std::uint32_t depth; // of the targets
    const Instruction *call;
    const Function *caller; // null: the section
    bool pure;              // reached below a pure function only
    std::size_t accesses = 0;
    std::size_t actions = 0;
    [[nodiscard]] bool has_more() const {
      return accesses < beyond->accesses.size() || actions < beyond->actions.size();
    }
  };

  [[nodiscard]] BitVector bits(const std::set<std::uint32_t> &locations) const {
    BitVector set(static_cast<unsigned>(effects_.locations_.size()));
    for (const std::uint32_t id : locations)
      set.set(id);
    return set;
  }

  // The locks of a lock region's own program are what a conversion replaces: they do not make its
  // regions irrevocable.
  [[nodiscard]] bool counts(bool is_lock) const { return !(is_lock && is_region_); }

  [[nodiscard]] bool has_all_accesses() const { return result_.accesses.size() == accesses_; }
  [[nodiscard]] bool is_complete() const {
    return has_all_accesses() && irrevocable_.size() == wanted_.size() && !collects_locks_;
  }
  [[nodiscard]] bool has_more() const {
    return any_of(joined_, [](const Joined &joined) { return joined.has_more(); });
  }

  void visit(const FunctionFacts &facts, const std::vector<SectionAccess> &accesses,
             const Function *self) {
    const bool pure = is_below_pure(self);
    for (const auto &[callee, action] : facts.irrevocable)
      if (!pure && counts(action.second) && is_wanted(callee))
        irrevocable_[callee] = described(callee, way_to(*action.first, self));
    take_locks(facts.lock_operations);
    if (!has_all_accesses())
      for_each(accesses, [&](const SectionAccess &access) { take(access); });
    for (const Call &call : facts.calls)
      if (call.targets.size() == 1 || arrays_.insert({call.targets.data(), pure}).second)
        follow(call, self, pure);
  }

  // What pure functions do is not undone, nor what they call.
  [[nodiscard]] bool is_below_pure(const Function *self) const {
    return self != nullptr && (is_pure(*self) || below_pure_.contains(self));
  }

  [[nodiscard]] bool is_wanted(const std::string &callee) const {
    return wanted_.contains(callee) && !irrevocable_.contains(callee);
  }

  void follow(const Call &call, const Function *self, bool pure) {
    if (call.targets.size() >= kManyTargets) {
      joined_.push_back({&effects_.beyond(call.targets), next_depth_, call.call, self, pure});
      take_locks(joined_.back().beyond->lock_operations);
      return;
    }
    for (const Function *target : call.targets) {
      if (is_whole_function(section_) && target == section_.function)
        continue;
      const bool first = reached_by_.try_emplace(target, self, call.call).second;
      if (first && pure)
        below_pure_.insert(target);
      if (first || (!pure && below_pure_.erase(target))) {
        reached_by_[target] = {self, call.call};
        order_.push_back(target);
      }
    }
  }

  void take_locks(const std::vector<const CallBase *> &operations) {
    if (!is_region_)
      for (const CallBase *operation : operations)
        if (locks_.insert(operation).second)
          result_.lock_operations.push_back(operation);
  }

  void take(const SectionAccess &access) {
    BitVector &wanted = access.writes ? writes_ : reads_;
    if (access.location >= wanted.size() || !wanted.test(access.location))
      return;
    wanted.reset(access.location);
    result_.accesses.push_back(access);
  }

  // What lies as deep as the walk has come, the section's own callees being at 0.
  void take(Joined &joined, std::uint32_t walked) {
    if (walked < joined.depth)
      return;
    const Beyond &beyond = *joined.beyond;
    const std::uint32_t depth = walked - joined.depth;
    for (; joined.accesses < beyond.accesses.size() &&
           beyond.accesses[joined.accesses].first == depth;
         ++joined.accesses)
      take(beyond.accesses[joined.accesses].second);
    for (; joined.actions < beyond.actions.size() && beyond.actions[joined.actions].depth == depth;
         ++joined.actions) {
      const Beyond::Action &action = beyond.actions[joined.actions];
      if (joined.pure || !counts(action.is_lock) || !is_wanted(action.callee))
        continue;
      std::vector<const Instruction *> way{action.instruction};
      while (const Instruction *call = beyond.reached_by.at(way.back()->getFunction()))
        way.push_back(call);
      append_range(way, way_to(*joined.call, joined.caller));
      irrevocable_[action.callee] = described(action.callee, std::move(way));
    }
  }

  // An instruction and the calls that lead to it, the section's own last.
  [[nodiscard]] std::vector<const Instruction *> way_to(const Instruction &instruction,
                                                        const Function *self) const {
    std::vector<const Instruction *> way{&instruction};
    for (; self != nullptr; self = reached_by_.at(self).first)
      way.push_back(reached_by_.at(self).second);
    return way;
  }

  [[nodiscard]] ReportIrrevocable described(const std::string &callee,
                                            std::vector<const Instruction *> way) const {
    ReportIrrevocable found{.callee = callee, .chain = {section_.name}, .places = {}};
    std::reverse(way.begin(), way.end());
    for (const Instruction *call : way) {
      if (call != way.front())
        found.chain.push_back(source_name(*call->getFunction()));
      found.places.push_back(source_place(*call));
    }
    found.chain.push_back(callee);
    found.cold = effects_.cold_.is_cold(way, is_region_ ? section_.entry.call : nullptr);
    return found;
  }

  Effects &effects_;
  const Section &section_;
  SectionEffects &result_;
  const bool is_region_;
  // Those of the section that no access is known of yet.
  BitVector reads_;
  BitVector writes_;
  const std::size_t accesses_;
  const bool collects_locks_;
  std::set<std::string_view> wanted_; // irrevocable callees that are to be found
  std::uint32_t next_depth_ = 0;      // of the functions that the visited one calls
  DenseMap<const Function *, std::pair<const Function *, const Instruction *>> reached_by_;
  std::vector<const Function *> order_;
  std::vector<Joined> joined_;
  std::map<std::string, ReportIrrevocable> irrevocable_;
  DenseSet<const Function *> below_pure_;
  std::set<std::pair<const Function *const *, bool>> arrays_; // whose functions are reached
  DenseSet<const CallBase *> locks_;
};

SectionEffects Effects::effects_of(const Section &section) {
  SectionEffects result;
  const FunctionFacts facts =
      is_whole_function(section) ? facts_of(*section.function) : facts_of(section);
  Summary summary;
  add(facts, summary);
  add(facts.calls, summary);
  // What the section's function knows by its parameters is what its callers pass.
  const auto local = std::move(summary.local);
  for (const auto &[key, how] : local) {
    const auto &[cell, range] = key;
    for (const Cell &place : points_to_.places(cell))
      add_range(place, range, how, summary);
  }
  result.reads.insert(summary.reads.begin(), summary.reads.end());
  result.writes.insert(summary.writes.begin(), summary.writes.end());
  if (is_whole_function(section)) {
    std::set<const Function *> active;
    result.irrevocable_at_begin = always_irrevocable(*section.function, active);
    result.entries = sharing_.entries_of(*section.function);
  } else {
    result.entries = sharing_.entries_of(*section.entry.call);
  }
  Walk(*this, section, summary, result).run(facts);
  return result;
}

// The first for each location and direction.
std::vector<SectionAccess> Effects::accesses_of(const FunctionFacts &facts) {
  std::vector<SectionAccess> found;
  std::set<std::pair<std::uint32_t, bool>> known;
  for (const Own &own : facts.own)
    for (const std::uint32_t id : locations_of(own.touch))
      for (const bool writes : {false, true})
        if ((writes ? own.touch.writes : own.touch.reads) && known.insert({id, writes}).second)
          found.push_back({own.instruction, id, writes});
  return found;
}

const std::vector<SectionAccess> &Effects::accesses_of(const Function &function) {
  const auto [known, fresh] = accesses_.try_emplace(&function);
  if (fresh)
    known->second = accesses_of(facts_of(function));
  return known->second;
}

// Whether every execution of `function` that returns performs an irrevocable action: one lies in a
// block that the function's exits cannot be reached without.
bool Effects::always_irrevocable(const Function &function, std::set<const Function *> &active) {
  const auto known = always_irrevocable_.find(&function);
  if (known != always_irrevocable_.end())
    return known->second;
  if (!active.insert(&function).second) {
    met_recursion_ = true;
    return false; // what the other calls do decides
  }
  PostDominatorTree exits(const_cast<Function &>(function));
  bool always = false;
  for (const BasicBlock &block : function) {
    if (!exits.dominates(&block, &function.getEntryBlock()))
      continue;
    for (const Instruction &instruction : block) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const Function *callee = call == nullptr ? nullptr : called_function(*call);
      const bool direct = callee != nullptr && !callee->isDeclaration();
      always = always || (callee != nullptr && !actions_.irrevocable_action(instruction).empty()) ||
               (direct && !is_pure(*callee) && always_irrevocable(*callee, active));
    }
  }
  active.erase(&function);
  if (active.empty() || always || !met_recursion_)
    always_irrevocable_[&function] = always;
  if (active.empty())
    met_recursion_ = false;
  return always;
}

} // namespace tandem
