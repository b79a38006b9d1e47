// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/outside_sections.h"

#include "compiler/findings/run_once.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/origin.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>
#include <deque>
#include <variant>

namespace tandem {

using namespace llvm;

OutsideSections::OutsideSections(const AnalysisView &view, const HeldLocks &held, Phases &phases)
    : view_(view), held_(held), phases_(phases), slots_(view.module) {
  find_once();
  for (const Section &section : view.sections)
    if (section.kind == SectionKind::function)
      marked_.insert(section.function);
    else
      inside_.insert(section.body.begin(), section.body.end());
  find_entered();
}

// Finds the functions that only pthread_once and its like run, and what only those call.
void OutsideSections::find_once() {
  std::vector<const Function *> work;
  for (const Function &function : view_.module)
    for (const Instruction &instruction : instructions(function))
      if (const auto *call = dyn_cast<CallBase>(&instruction); call != nullptr && is_once(*call))
        append_range(work, once_targets(*call, view_.points_to));
  if (work.empty())
    return;
  std::map<const Function *, std::vector<const CallBase *>> callers;
  for (const Function &function : view_.module)
    for (const Instruction &instruction : instructions(function))
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        for (const Function *target : view_.points_to.targets(*call))
          callers[target].push_back(call);
  while (!work.empty()) {
    const Function *function = work.back();
    work.pop_back();
    const bool only_once =
        is_for_once(*function) ||
        (!begins_thread(*function) && all_of(callers[function], [&](const CallBase *call) {
          return is_once(*call) || once_.contains(call->getFunction());
        }));
    if (!only_once || !once_.insert(function).second)
      continue;
    for (const Instruction &instruction : instructions(*function))
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        append_range(work, view_.points_to.targets(*call));
  }
}

bool OutsideSections::begins_thread(const Function &function) const {
  return any_of(view_.sharing.entries(), [&](const Entry &entry) {
    return entry.function == &function && entry.kind != EntryKind::exported;
  });
}

const std::vector<OutsideSections::Steps> &OutsideSections::steps(const Function &function) {
  const auto [known, fresh] = steps_.try_emplace(&function);
  if (!fresh)
    return known->second;
  for (const Instruction &instruction : instructions(function)) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    if (call == nullptr || view_.locks.at(instruction) != nullptr ||
        inside_.contains(&instruction) || is_once(*call) || held_.may_hold(instruction))
      continue;
    if (const auto entered = targets(*call); !entered.empty())
      known->second.push_back({call, entered});
  }
  return known->second;
}

ArrayRef<const Function *> OutsideSections::targets(const CallBase &call) {
  const ArrayRef<const Function *> targets = likely_targets(call, view_.points_to);
  if (targets.empty())
    return targets;
  const std::optional<std::int64_t> slot = VirtualSlots::slot(call);
  const auto [known, fresh] = targets_.try_emplace({targets.data(), slot});
  if (fresh)
    copy_if(targets, std::back_inserter(known->second), [&](const Function *target) {
      return !target->isDeclaration() && !marked_.contains(target) && !once_.contains(target) &&
             (!view_.locks.is_wrapper(*target) || is_library_function(*target)) &&
             slots_.may_enter(slot, *target);
    });
  return known->second;
}

// The functions that an entry's thread begins with; main's runs what comes before main, too.
SmallVector<const Function *, 2> OutsideSections::begins(const Entry &entry) const {
  SmallVector<const Function *, 2> functions{entry.function};
  if (entry.kind == EntryKind::main)
    append_range(functions, view_.sharing.start().before);
  return functions;
}

// Finds which entries' threads run each function outside all sections. What is known of a
// function or array of targets goes on to what it leads to, until nothing changes.
void OutsideSections::find_entered() {
  const std::vector<Entry> &entries = view_.sharing.entries();
  const auto count = static_cast<unsigned>(entries.size());
  DenseMap<const void *, BitVector> known; // by function, and by array of targets
  std::deque<std::variant<const Function *, ArrayRef<const Function *>>> work;
  const auto add = [&](const void *place, const BitVector &more, auto next) {
    BitVector &all = known.try_emplace(place, count).first->second;
    if (!more.test(all)) // nothing new
      return;
    all |= more;
    work.push_back(next);
  };
  for (std::uint32_t entry = 0; entry < count; ++entry) {
    BitVector one(count);
    one.set(entry);
    for (const Function *begin : begins(entries[entry]))
      if (!marked_.contains(begin))
        add(begin, one, begin);
  }
  while (!work.empty()) {
    const auto next = work.front();
    work.pop_front();
    if (const auto *const *function = std::get_if<const Function *>(&next)) {
      const BitVector entered = known.at(*function);
      for (const Steps &one : steps(**function))
        if (one.targets.size() == 1)
          add(one.targets.front(), entered, one.targets.front());
        else
          add(one.targets.data(), entered, one.targets);
    } else {
      const auto targets = std::get<ArrayRef<const Function *>>(next);
      const BitVector entered = known.at(targets.data());
      for (const Function *target : targets)
        add(target, entered, target);
    }
  }
  for (const Function &function : view_.module)
    if (const auto found = known.find(&function); found != known.end())
      append_range(entered_by_[&function], found->second.set_bits());
}
const OutsideSections::Ways &OutsideSections::ways(std::uint32_t entry) {
  const auto [known, fresh] = ways_.try_emplace(entry);
  if (!fresh)
    return known->second;
  Ways &ways = known->second;
  const SmallVector<const Function *, 2> first = begins(view_.sharing.entries()[entry]);
  std::deque<const Function *> work(first.begin(), first.end());
  std::deque<Steps> doubtful;
  DenseSet<const Function *const *> arrays; // of which all are reached
  for (const Function *begin : first)
    ways.call[begin] = nullptr;
  bool sure = true;
  const auto take = [&](const Steps &one) {
    for (const Function *target : one.targets)
      if (ways.call.try_emplace(target, one.call).second) {
        work.push_back(target);
        if (!sure)
          ways.doubtful.insert(target);
      }
  };
  while (!work.empty() || !doubtful.empty()) {
    if (work.empty()) {
      sure = false;
      take(doubtful.front());
      doubtful.pop_front();
      continue;
    }
    const Function *function = work.front();
    work.pop_front();
    for (const Steps &one : steps(*function))
      if (one.targets.size() > kFewTargets) {
        if (arrays.insert(one.targets.data()).second)
          doubtful.push_back(one);
      } else {
        take(one);
      }
  }
  if (phases_.likely().is_followed(entry))
    find_beside(entry, ways);
  return ways;
}

void OutsideSections::find_beside(std::uint32_t entry, Ways &ways) {
  const Phases &phases = phases_.likely();
  std::deque<const Function *> work;
  const auto add = [&](const Function *function, const Phases::Sites &sites, const CallBase *call) {
    Phases::Sites fresh = sites;
    const auto [known, first] = ways.beside.try_emplace(function, sites);
    if (!first) {
      fresh.reset(known->second);
      known->second |= fresh;
    }
    for (const unsigned site : fresh.set_bits())
      ways.with[{function, site}] = call;
    if (first || fresh.any())
      work.push_back(function);
  };
  for (const Function *begin : begins(view_.sharing.entries()[entry]))
    add(begin, phases.at_begin(entry), nullptr);
  while (!work.empty()) {
    const Function *function = work.front();
    work.pop_front();
    const Phases::Sites entered = ways.beside.at(function);
    for (const Steps &one : steps(*function))
      if (one.targets.size() <= kFewTargets) {
        const Phases::Sites here = phases.at(*one.call, entered);
        for (const Function *target : one.targets)
          add(target, here, one.call);
      }
  }
}

// Where threads are created that exist when one of `entry` comes to the access, by a way of calls
// of which the text tells where they lead.
Phases::Sites OutsideSections::sites_beside(std::uint32_t entry, const Instruction &outside) {
  const Ways &ways = this->ways(entry);
  const auto entered = ways.beside.find(outside.getFunction());
  return entered == ways.beside.end() ? Phases::Sites()
                                      : phases_.likely().at(outside, entered->second);
}

bool OutsideSections::comes_beside(std::uint32_t entry, const Instruction &outside,
                                   std::uint32_t other) {
  Phases &phases = phases_.likely();
  return entry == other || !phases.is_followed(entry) ||
         phases.may_run(other, entry, sites_beside(entry, outside));
}

OutsideSections::Way OutsideSections::way_to(const Instruction &outside, std::uint32_t entry,
                                             std::optional<std::uint32_t> other) {
  Way way;
  const Function *function = outside.getFunction();
  const Ways &ways = this->ways(entry);
  Phases::Sites beside;
  if (other && phases_.likely().is_followed(entry)) {
    beside = sites_beside(entry, outside);
    beside &= phases_.likely().sites_of(*other);
  }
  bool beside_at_entry = beside.any(); // not only from a creation in the function on
  const unsigned site = beside_at_entry ? static_cast<unsigned>(beside.find_first()) : 0;
  while (true) {
    const auto with = ways.with.find({function, site});
    beside_at_entry = beside_at_entry && with != ways.with.end();
    const CallBase *call = beside_at_entry ? with->second : ways.call.at(function);
    if (call == nullptr)
      break;
    way.emplace_back(call, function);
    function = call->getFunction();
  }
  std::reverse(way.begin(), way.end());
  return way;
}

} // namespace tandem
