// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// lock-in-handler: a signal handler waits for a lock that other code of the program takes, too. If
// the signal comes while its own thread holds the lock, the handler waits for ever. A trylock does
// not wait. One finding for each lock.
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/lock_functions.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/InstIterator.h"

#include <fmt/format.h>

#include <map>

namespace tandem {
namespace {

using namespace llvm;

// The functions that a handler may run, and the call by which each is reached first; null for
// itself.
MapVector<const Function *, const CallBase *> functions_of(const Function &handler,
                                                           const PointsToAnalysis &points_to) {
  MapVector<const Function *, const CallBase *> found;
  found.insert({&handler, nullptr});
  for (std::size_t i = 0; i < found.size(); ++i)
    for (const Instruction &instruction : instructions(*found.begin()[i].first))
      if (const auto *call = dyn_cast<CallBase>(&instruction))
        for (const Function *target : few_targets(*call, points_to))
          if (!target->isDeclaration())
            found.insert({target, call});
  return found;
}

// A lock that a handler acquires, and the calls that lead there.
struct InHandler {
  const LockSite *site;
  const Function *handler;
  std::vector<std::pair<const CallBase *, const Function *>> way; // and what each calls
};

} // namespace

void find_locks_in_handlers(const AnalysisView &view, const HeldLocks &held, Findings &findings) {
  std::map<std::uint32_t, InHandler> in_handlers; // by class
  DenseSet<const Function *> handlers;
  for (const Entry &entry : view.sharing.entries()) {
    if (entry.kind != EntryKind::signal_handler || !takes_signal(*entry.function))
      continue;
    const auto functions = functions_of(*entry.function, view.points_to);
    for (const auto &[function, call] : functions) {
      handlers.insert(function);
      if (view.locks.is_wrapper(*function))
        continue;
      for (const LockSite *site : view.locks.sites(*function))
        if (site->operation == LockOperation::lock)
          for (const std::uint32_t lock : held.classes_of(*site))
            if (!held.classes()[lock].unknown && !in_handlers.contains(lock)) {
              InHandler &found = in_handlers[lock];
              found.site = site;
              found.handler = entry.function;
              for (const Function *at = function; at != entry.function;
                   at = found.way.back().first->getFunction())
                found.way.emplace_back(functions.lookup(at), at);
            }
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
        const auto &[inside, handler, way] = found->second;
        ReportFinding finding = finding_at(
            "lock-in-handler", place_of(*inside->call),
            fmt::format("'{}' is acquired here by the signal handler '{}', and by other code: a "
                        "thread that is interrupted while it holds it waits for itself",
                        held.classes()[lock].name, shown_name(*handler)));
        for (const auto &[call, callee] : reverse(way))
          if (!is_library_function(*call->getFunction()))
            finding.notes.push_back(
                note_at(place_of(*call),
                        fmt::format("'{}' calls '{}' here", shown_name(*call->getFunction()),
                                    shown_name(*callee))));
        finding.notes.push_back(
            note_at(place_of(*site->call),
                    fmt::format("acquired here in '{}'", shown_name(*site->call->getFunction()))));
        findings.push_back(std::move(finding));
        in_handlers.erase(found);
      }
    }
  }
}

} // namespace tandem
