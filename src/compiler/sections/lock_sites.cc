// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/check.h"
#include "compiler/report/coverage.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/hidden_operations.h"
#include "compiler/sections/regions.h"
#include "compiler/sections/section.h"
#include "compiler/sections/unwrap.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

namespace tandem {
namespace {

using namespace llvm;

std::string operation_name(LockOperation operation) {
  switch (operation) {
  case LockOperation::lock:
    return "lock";
  case LockOperation::trylock:
    return "trylock";
  case LockOperation::wait:
    return "wait";
  case LockOperation::unlock:
    return "unlock";
  }
  CHECK(false, "lock operation {}", static_cast<int>(operation));
}

ReportLockSite site_at(const Instruction &call) {
  ReportLockSite site;
  site.function = source_name(*call.getFunction());
  if (const DILocation *location = operation_place(call)) {
    site.file = location->getFilename().str();
    site.line = location->getLine();
  } else if (const DISubprogram *program = call.getFunction()->getSubprogram()) {
    site.file = program->getFilename().str();
  }
  return site;
}

// The variables that are initialised with a constant.
void holders_of(const Constant &constant, std::set<const GlobalVariable *> &holders) {
  for (const User *user : constant.users())
    if (const auto *variable = dyn_cast<GlobalVariable>(user))
      holders.insert(variable);
    else if (const auto *part = dyn_cast<Constant>(user); part && !isa<GlobalValue>(part))
      holders_of(*part, holders);
}

// Whether code does nothing with an address but to load from it and from constant places behind it:
// what it loads is known where the memory never changes.
bool is_only_loaded(const Value &address) {
  return all_of(address.users(), [](const User *user) {
    const auto *offset = dyn_cast<GEPOperator>(user);
    return isa<LoadInst>(user) ||
           (offset != nullptr && offset->hasAllConstantIndices() && is_only_loaded(*user));
  });
}

// Whether a variable that is initialised with a function's address may give it to calls by pointer
// that do not find it by name (unwrap.h).
bool gives_away(const GlobalVariable &holder) {
  return !holder.getName().starts_with("llvm.") &&
         !(never_changes(holder) && is_only_loaded(holder));
}

// Whether a function's address only gets into a local variable from which nothing reads it: the
// calls by it were bound (unwrap.h).
bool is_never_read(const User &keeps) {
  const auto *kept = dyn_cast<StoreInst>(&keeps);
  const auto *variable =
      kept == nullptr ? nullptr : dyn_cast<AllocaInst>(kept->getPointerOperand());
  return variable != nullptr && all_of(variable->users(), [&](const User *user) {
           const auto *store = dyn_cast<StoreInst>(user);
           const auto *intrinsic = dyn_cast<IntrinsicInst>(user);
           return (isa<LoadInst>(user) && user->use_empty()) ||
                  (store != nullptr && store->getPointerOperand() == variable) ||
                  (intrinsic != nullptr && intrinsic->isLifetimeStartOrEnd());
         });
}

// Whether calls that do not name a function may lead to it.
bool may_be_called_by_pointer(const Function &function) {
  std::set<const GlobalVariable *> holders;
  holders_of(function, holders);
  return any_of(function.users(),
                [&](const User *user) {
                  const auto *call = dyn_cast<CallBase>(user);
                  return isa<Instruction>(user) && !is_never_read(*user) &&
                         (call == nullptr || call->getCalledOperand() != &function);
                }) ||
         any_of(holders, [](const GlobalVariable *holder) { return gives_away(*holder); });
}

// Why no section begins or ends at `site`.
std::string reason_of(const LockSite &site, const LockCalls &calls,
                      const ForeignReleases &foreign) {
  const Function &function = *site.call->getFunction();
  if (calls.is_wrapper(function)) {
    if (function.use_empty())
      return "inside a wrapper of the operation that nothing calls";
    return may_be_called_by_pointer(function)
               ? "inside a wrapper of the operation that may be called by pointer: such calls are "
                 "not followed"
               : kInWrapper;
  }
  if (site.empty)
    return "the guard has given its lock away";
  if (site.guard)
    return "the guard does not hold its lock here, unless it was acquired elsewhere";
  const auto found = foreign.find(&function);
  if (found != foreign.end() &&
      any_of(site.locks, [&](const std::string &lock) { return found->second.contains(lock); }))
    return "releases a lock that the function's caller holds";
  return "no acquisition in the function reaches it: the lock was acquired elsewhere, or under "
         "another name";
}

// Why the region that begins at `site` is not all that runs with its lock held.
std::string reason_of(const Section &section) {
  if (!section.doubt.empty())
    return section.doubt;
  const Function &function = *section.function;
  const std::string name = source_name(function);
  const std::string why = why_not_unwrapped(function);
  const std::string more = why.empty() ? "" : ", and " + why;
  if (section.exits.empty())
    return fmt::format("{} does not release it{}", name, more);
  if (any_of(section.body, [](const Instruction *at) { return isa<ReturnInst>(at); }))
    return fmt::format("some path of {} returns without releasing it{}", name, more);
  if (any_of(section.body, [](const Instruction *at) { return isa<ResumeInst>(at); }))
    return fmt::format("an exception that leaves {} leaves it locked{}", name, more);
  return fmt::format("{} calls a function that releases it{}", name, more);
}

// The mutex that a call is given; "?" where none of its arguments is one.
std::string mutex_given_to(const CallBase &call) {
  for (const Value *argument : call.args())
    if (argument->getType()->isPointerTy())
      if (const AccessPath path = access_path(argument, 0);
          path.type != nullptr && path.type->getName().ends_with("mutex"))
        return path.print();
  return "?";
}

void add_hidden(const Module &module, const LockCalls &calls, std::vector<ReportLockSite> &sites) {
  HiddenOperations hidden(module);
  for (const Function &function : module)
    if (!is_library_function(function))
      for (const Instruction &instruction : instructions(function))
        if (const auto *call = dyn_cast<CallBase>(&instruction);
            call != nullptr && calls.at(*call) == nullptr)
          if (const LockFunction *does = hidden.behind(*call)) {
            ReportLockSite site = site_at(*call);
            site.operation = operation_name(*does->operation);
            site.primitive = does->primitive;
            site.lock = mutex_given_to(*call);
            site.reason = fmt::format("inside {}, which gives the lock on to a guard that is not "
                                      "followed",
                                      shown_name(*called_function(*call)));
            sites.push_back(std::move(site));
          }
}

// Operations of C whose address the program takes, but for tables that never change (unwrap.h) and
// that all calls find by their names.
void add_by_address(const Module &module, std::vector<ReportLockSite> &sites) {
  for (const Function &function : module) {
    const std::optional<LockFunction> does = lock_function(function);
    if (!function.isDeclaration() || !does || !does->operation ||
        does->operation == LockOperation::unlock)
      continue;
    const auto add = [&](ReportLockSite site) {
      site.operation = operation_name(*does->operation);
      site.primitive = does->primitive;
      site.lock = "?";
      site.reason = fmt::format("the address of {} is taken: calls by pointer are not followed",
                                source_name(function));
      sites.push_back(std::move(site));
    };
    std::set<std::pair<std::string, std::uint32_t>> places;
    for (const User *user : function.users()) {
      const auto *taken = dyn_cast<Instruction>(user);
      const auto *call = dyn_cast_or_null<CallBase>(taken);
      if (taken != nullptr && !is_never_read(*user) &&
          !is_library_function(*taken->getFunction()) &&
          (call == nullptr || call->getCalledOperand() != &function))
        if (ReportLockSite site = site_at(*taken); places.emplace(site.file, site.line).second)
          add(std::move(site));
    }
    std::set<const GlobalVariable *> holders;
    holders_of(function, holders);
    for (const GlobalVariable &variable : module.globals()) {
      if (!holders.contains(&variable) || !gives_away(variable))
        continue;
      ReportLockSite site;
      site.function = source_name(variable);
      SmallVector<DIGlobalVariableExpression *, 1> expressions;
      variable.getDebugInfo(expressions);
      if (!expressions.empty()) {
        site.file = expressions.front()->getVariable()->getFilename().str();
        site.line = expressions.front()->getVariable()->getLine();
      }
      add(std::move(site));
    }
  }
}

} // namespace

std::vector<ReportLockSite> lock_sites(const Module &module, const std::vector<Section> &sections) {
  const LockCalls calls(module);
  const ForeignReleases foreign = find_foreign_releases(module, calls);
  DenseMap<const CallBase *, std::vector<std::string>> at;
  DenseMap<const CallBase *, const Section *> begun;
  for (const Section &section : sections) {
    if (section.kind != SectionKind::lock_region)
      continue;
    at[section.entry.call].push_back(section.name);
    begun[section.entry.call] = &section;
    for (const auto *ends : {&section.exits, &section.partial})
      for (const CallBase *end : *ends)
        if (std::vector<std::string> &names = at[end]; !is_contained(names, section.name))
          names.push_back(section.name);
  }
  std::vector<ReportLockSite> found;
  for (const Function &function : module)
    for (const LockSite *site : calls.sites(function)) {
      ReportLockSite described = site_at(*site->call);
      described.operation = operation_name(site->operation);
      described.primitive = site->primitive;
      described.lock = join(site->locks, ", ");
      described.sections = at.lookup(site->call);
      if (described.sections.empty())
        described.reason = reason_of(*site, calls, foreign);
      else if (const Section *section = begun.lookup(site->call);
               section != nullptr && section->shape == RegionShape::escapes)
        described.reason = reason_of(*section);
      found.push_back(std::move(described));
    }
  add_hidden(module, calls, found);
  add_by_address(module, found);
  for (const SignalSite &signal : calls.signals()) {
    ReportLockSite described = site_at(*signal.call);
    described.operation = "signal";
    described.primitive = signal.primitive;
    described.lock = signal.condition;
    described.reason = "wakes waiters and holds no lock itself";
    found.push_back(std::move(described));
  }
  return found;
}

} // namespace tandem
