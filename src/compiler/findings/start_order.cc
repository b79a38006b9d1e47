// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/start_order.h"

#include "compiler/findings/place.h"

#include "llvm/IR/InstIterator.h"

namespace tandem {

using namespace llvm;

StartOrder::StartOrder(const Module &module, const PointsToAnalysis &points_to,
                       const Sharing &sharing, StepsOf steps_of)
    : points_to_(points_to), sharing_(sharing), steps_of_(std::move(steps_of)),
      starts_(sharing.entries().size()) {
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function))
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        if (const auto targets = points_to.targets(*call); !targets.empty()) {
          const auto [calls, fresh] = calls_of_.try_emplace(targets.data());
          calls->second.push_back(call);
          for (const Function *target : fresh ? targets : ArrayRef<const Function *>())
            callers_[target].push_back(&calls->second);
        }
  for (std::uint32_t i = 0; i < starts_.size(); ++i)
    if (sharing.entries()[i].kind == EntryKind::main)
      main_ = sharing.entries()[i].function;
    else
      entries_[sharing.entries()[i].function].push_back(i);
  for (const PointsToAnalysis::Spawn &spawn : points_to.spawns())
    spawned_[spawn.function].push_back(spawn.call);
}

// Back from where a thread starts, also by way of the threads that start it.
void StartOrder::find_calls(std::uint32_t entry, Start &start) {
  std::vector<const CallBase *> work;
  std::set<std::uint32_t> seen;
  DenseSet<const Function *> entered;
  DenseSet<const Calls *> arrays;
  const auto add_starts_of = [&](std::uint32_t started) {
    if (!seen.insert(started).second)
      return;
    const Entry &what = sharing_.entries()[started];
    const auto found = spawned_.find(what.function);
    if (what.kind == EntryKind::exported || found == spawned_.end())
      start.always = true;
    else
      work.insert(work.end(), found->second.begin(), found->second.end());
  };
  add_starts_of(entry);
  while (!work.empty()) {
    const CallBase *call = work.back();
    work.pop_back();
    if (!start.calls.insert(call).second)
      continue;
    const Function *function = call->getFunction();
    if (!entered.insert(function).second)
      continue;
    if (is_contained(sharing_.start().before, function))
      start.always = true; // before main
    for (const Calls *calls : callers_[function])
      if (arrays.insert(calls).second)
        work.insert(work.end(), calls->begin(), calls->end());
    if (const auto own = entries_.find(function); own != entries_.end())
      for (const std::uint32_t started : own->second)
        add_starts_of(started);
  }
}

// Forward from main: in functions that lead to a start what follows it, and all that is called
// there.
void StartOrder::find_after(Start &start) {
  if (main_ == nullptr)
    return;
  std::set<const Function *> seen{main_};
  std::vector<const Function *> work{main_};
  while (!work.empty()) {
    const Function *function = work.back();
    work.pop_back();
    std::vector<const CallBase *> &calls = start.in[function];
    for (const Instruction &instruction : instructions(*function))
      if (const auto *call = dyn_cast<CallBase>(&instruction);
          call != nullptr && start.calls.contains(call))
        calls.push_back(call);
    for (const Steps &steps : steps_of_(*function)) {
      if (start.calls.contains(steps.call))
        for (const Function *target : steps.targets)
          if (seen.insert(target).second)
            work.push_back(target);
      if (any_of(calls, [&](const CallBase *begin) { return may_follow(*steps.call, *begin); }))
        add_after(steps.targets, start);
    }
  }
}

void StartOrder::add_after(ArrayRef<const Function *> functions, Start &start) {
  std::vector<const Function *> work;
  const auto add = [&](ArrayRef<const Function *> targets) {
    if (!targets.empty() && start.arrays.insert(targets.data()).second)
      for (const Function *target : targets)
        if (start.after.insert(target).second)
          work.push_back(target);
  };
  add(functions);
  while (!work.empty()) {
    const Function *at = work.back();
    work.pop_back();
    for (const Steps &steps : steps_of_(*at))
      add(steps.targets);
  }
}

bool StartOrder::may_follow_start(const Instruction &instruction, std::uint32_t entry) {
  Start &start = starts_[entry];
  if (!start.known) {
    start.known = true;
    find_calls(entry, start);
    find_after(start);
  }
  if (start.always || start.after.contains(instruction.getFunction()))
    return true;
  const auto found = start.in.find(instruction.getFunction());
  return found != start.in.end() && any_of(found->second, [&](const CallBase *begin) {
           return may_follow(instruction, *begin);
         });
}

} // namespace tandem
