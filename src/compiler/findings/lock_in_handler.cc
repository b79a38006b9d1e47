// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lock-in-handler: a signal handler waits for a lock that other code of the program takes, too. If
// the signal comes while its own thread holds the lock, the handler waits for ever. A trylock does
// not wait. One finding for each lock.
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/sections/access_path.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/InstIterator.h"

#include <fmt/format.h>

#include <map>

namespace tandem {
namespace {

using namespace llvm;

// What a call enters; nothing where it may enter so many functions that it says little.
ArrayRef<const Function *> few_targets(const CallBase &call, const PointsToAnalysis &points_to) {
  const auto targets = likely_targets(call, points_to);
  return targets.size() > kFewTargets ? ArrayRef<const Function *>() : targets;
}

// The functions that a handler may run.
std::vector<const Function *> functions_of(const Function &handler,
                                           const PointsToAnalysis &points_to) {
  std::vector<const Function *> found{&handler};
  DenseSet<const Function *> seen{&handler};
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const Instruction &instruction : instructions(*found[i]))
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        for (const Function *target : few_targets(*call, points_to))
          if (!target->isDeclaration() && seen.insert(target).second)
            found.push_back(target);
  return found;
}

} // namespace

bool takes_signal(const Function &function) {
  const auto is_pointer = [&](unsigned argument) {
    return function.getArg(argument)->getType()->isPointerTy();
  };
  return function.getReturnType()->isVoidTy() &&
         (function.arg_size() == 0 ||
          ((function.arg_size() == 1 ||
            (function.arg_size() == 3 && is_pointer(1) && is_pointer(2))) &&
           function.getArg(0)->getType()->isIntegerTy(32)));
}

void find_locks_in_handlers(const AnalysisView &view, const HeldLocks &held, Findings &findings) {
  std::map<std::uint32_t, std::pair<const LockSite *, const Function *>> in_handlers; // by class
  DenseSet<const Function *> handlers;
  for (const Entry &entry : view.sharing.entries()) {
    if (entry.kind != EntryKind::signal_handler || !takes_signal(*entry.function))
      continue;
    for (const Function *function : functions_of(*entry.function, view.points_to)) {
      handlers.insert(function);
      if (view.locks.is_wrapper(*function))
        continue;
      for (const LockSite *site : view.locks.sites(*function))
        if (site->operation == LockOperation::lock)
          for (const std::uint32_t lock : held.classes_of(*site))
            if (!held.classes()[lock].unknown)
              in_handlers.try_emplace(lock, site, entry.function);
    }
  }
  if (in_handlers.empty())
    return;
  for (const Function &function : view.module) {
    const auto is_handlers = [&](std::uint32_t entry) {
      return view.sharing.entries()[entry].kind == EntryKind::signal_handler;
    };
    if (function.isDeclaration() || view.locks.is_wrapper(function) ||
        (handlers.contains(&function) && all_of(view.sharing.entries_of(function), is_handlers)))
      continue;
    for (const LockSite *site : view.locks.sites(function)) {
      if (site->operation == LockOperation::unlock)
        continue;
      for (const std::uint32_t lock : held.classes_of(*site)) {
        const auto found = in_handlers.find(lock);
        if (found == in_handlers.end())
          continue;
        const auto [inside, handler] = found->second;
        ReportFinding finding = finding_at(
            "lock-in-handler", place_of(*inside->call),
            fmt::format("'{}' is acquired here by the signal handler '{}', and by other code: a "
                        "thread that is interrupted while it holds it waits for itself",
                        held.classes()[lock].name, source_name(*handler)));
        finding.notes.push_back(
            note_at(place_of(*site->call),
                    fmt::format("acquired here in '{}'", source_name(*site->call->getFunction()))));
        findings.push_back(std::move(finding));
        in_handlers.erase(found);
      }
    }
  }
}

} // namespace tandem
