// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/convert/limits.h"

#include "compiler/effects/effects.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/sections/section.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"

#include <set>

namespace tandem {
namespace {

using namespace llvm;

// PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE and PTHREAD_MUTEX_ERRORCHECK.
constexpr std::uint64_t kNormal = 0;
constexpr std::uint64_t kRecursive = 1;
constexpr std::uint64_t kErrorCheck = 2;
// The field of glibc's __pthread_mutex_s that says which it is.
constexpr unsigned kKindField = 4;

std::string place_of(const Value &value) {
  std::string place;
  if (const auto *instruction = dyn_cast<Instruction>(&value)) {
    place = source_place(*instruction);
    return place.empty() ? source_name(*instruction->getFunction()) : place;
  }
  if (const auto *global = dyn_cast<GlobalVariable>(&value)) {
    SmallVector<DIGlobalVariableExpression *, 1> known;
    global->getDebugInfo(known);
    if (!known.empty())
      return fmt::format("{}:{}", known.front()->getVariable()->getFilename().str(),
                         known.front()->getVariable()->getLine());
  }
  const auto *object = dyn_cast<GlobalObject>(&value);
  return object == nullptr ? value.getName().str() : source_name(*object);
}

// Where `function` is used other than by a call; null: nowhere.
const Value *address_taken(const Function &function) {
  SmallVector<const Use *> uses;
  for (const Use &use : function.uses())
    uses.push_back(&use);
  SmallPtrSet<const Value *, 8> seen;
  while (!uses.empty()) {
    const Use &use = *uses.pop_back_val();
    const User *user = use.getUser();
    if (const auto *call = dyn_cast<CallBase>(user); call != nullptr && call->isCallee(&use))
      continue;
    if (user->getName().starts_with("llvm.") || !seen.insert(user).second)
      continue;
    if (isa<Instruction, GlobalValue>(user))
      return user;
    for (const Use &next : user->uses())
      uses.push_back(&next);
  }
  return nullptr;
}

// A call of the library's function `name` whose argument is, or may be, something else than
// `harmless`.
const CallBase *call_with(const Module &module, StringRef name, std::uint64_t harmless) {
  const Function *function = module.getFunction(name);
  if (function == nullptr || !function->isDeclaration())
    return nullptr;
  for (const User *user : function->users())
    if (const auto *call = dyn_cast<CallBase>(user)) {
      const auto *told =
          call->arg_size() < 2 ? nullptr : dyn_cast<ConstantInt>(call->getArgOperand(1));
      if (told == nullptr || told->getZExtValue() != harmless)
        return call;
    }
  return nullptr;
}

// Whether a variable begins as a mutex that its owner may lock again, or with `checked` one that
// says so where its owner does.
bool has_recursive(const Constant &initial, bool checked, unsigned depth = 0) {
  if (const auto *record = dyn_cast<ConstantStruct>(&initial);
      record != nullptr && record->getType()->hasName() &&
      record->getType()->getName().starts_with("struct.__pthread_mutex_s")) {
    const auto *kind = record->getNumOperands() <= kKindField
                           ? nullptr
                           : dyn_cast<ConstantInt>(record->getOperand(kKindField));
    return kind != nullptr &&
           (kind->getZExtValue() == kRecursive || (checked && kind->getZExtValue() == kErrorCheck));
  }
  return depth < 16 && isa<ConstantAggregate>(initial) &&
         any_of(
             initial.operands(),
             [&](const Use &part) {
               return has_recursive(*cast<Constant>(part.get()), checked, depth + 1);
             });
}

class Limits {
public:
  Limits(Module &module, const LockCalls &calls, const NamedLocks &named,
         const PointsToAnalysis &points_to, const LibraryLocks &library, bool shared)
      : module_(module), calls_(calls), named_(named), points_to_(points_to), library_(library),
        shared_(shared) {
    for (const Function &function : module)
      for (const LockSite *site : calls.sites(function))
        if (const auto section = named.section_of(*site)) {
          sites_.push_back(site);
          if (named.has_lock_regions(*section))
            looked_at_.insert(*section);
          if (site->operation == LockOperation::trylock) {
            tried_.insert(*section);
            if (a_try_ == nullptr)
              a_try_ = site;
          }
        }
  }

  Status check() {
    if (sites_.empty())
      return Unit{};
    for (Status (Limits::*one)() :
         {&Limits::check_jumps, &Limits::check_pointers, &Limits::check_processes,
          &Limits::check_recursive, &Limits::check_robust, &Limits::check_names,
          &Limits::check_callers, &Limits::check_handlers, &Limits::check_marked})
      if (Status good = (this->*one)(); !good)
        return good;
    return Unit{};
  }

private:
  Status check_jumps() {
    for (const LockSite *site : sites_)
      for (const BasicBlock &block : *site->call->getFunction())
        if (isa<IndirectBrInst, CallBrInst>(block.getTerminator()))
          return Error{fmt::format("{}: lock '{}' is used in a function that jumps to the address "
                                   "of a label ({}), which cannot become a section; keep it a lock",
                                   place_of(*site->call), named_.name_in_file(*site),
                                   place_of(*block.getTerminator()))};
    return Unit{};
  }

  Status check_pointers() {
    for (const Function &function : module_)
      if ((function.isDeclaration() || library_.converted) && lock_function(function).has_value())
        if (const Value *taken = address_taken(function))
          return Error{fmt::format("{}: '{}' is called by pointer, with locks that cannot be "
                                   "found: no lock of this program can become a section",
                                   place_of(*taken), shown_name(function))};
    return Unit{};
  }

  Status check_processes() {
    for (const char *name :
         {"pthread_mutexattr_setpshared", "pthread_rwlockattr_setpshared", "pthread_spin_init"})
      if (const CallBase *call = call_with(module_, name, 0))
        return Error{fmt::format("{}: '{}' may make a lock that several processes share, and "
                                 "sections are one process's: no lock of this program can become "
                                 "a section",
                                 place_of(*call), name)};
    return Unit{};
  }

  Status check_recursive() {
    if (a_try_ == nullptr && looked_at_.empty())
      return Unit{};
    const Value *made = call_with(module_, "pthread_mutexattr_settype", kNormal);
    for (const GlobalVariable &global : module_.globals())
      if (made == nullptr && global.hasInitializer() &&
          has_recursive(*global.getInitializer(), !looked_at_.empty()))
        made = &global;
    if (made == nullptr && library_.recursive.empty())
      return Unit{};
    const std::string place = made == nullptr ? library_.recursive : place_of(*made);
    if (a_try_ == nullptr) {
      const LockSite &site = **find_if(sites_, [&](const LockSite *one) {
        return looked_at_.contains(*named_.section_of(*one));
      });
      return Error{
          fmt::format("{}: regions of lock '{}' are to be in no section, and it may be one "
                      "that knows its owner ({}); keep it a lock",
                      place_of(*site.call), named_.name_in_file(site), place)};
    }
    return Error{fmt::format("{}: lock '{}' is tried, and may be one that its owner can lock again "
                             "({}); keep it a lock",
                             place_of(*a_try_->call), named_.name_in_file(*a_try_), place)};
  }

  // glibc links robust mutexes in a list, by the field that holds the word here (kHeldWord).
  // Priority inheritance does not reach a thread that waits for the word.
  Status check_robust() {
    if (looked_at_.empty())
      return Unit{};
    for (const char *name : {"pthread_mutexattr_setrobust", "pthread_mutexattr_setrobust_np"})
      if (const Function *function = module_.getFunction(name);
          function != nullptr && !function->use_empty())
        return Error{fmt::format("{}: regions of converted locks are to be in no section, and the "
                                 "program makes robust mutexes, which have no room for that; keep "
                                 "those locks",
                                 place_of(*function->user_back()))};
    if (const CallBase *call = call_with(module_, "pthread_mutexattr_setprotocol", 0))
      return Error{fmt::format("{}: regions of converted locks are to be in no section, and the "
                               "program makes mutexes that hand on priorities, which that does "
                               "not; keep those locks",
                               place_of(*call))};
    return Unit{};
  }

  [[nodiscard]] const GlobalVariable *named_outside(const LockSite &site) const {
    const auto outside = [](const Value *object) {
      const auto *global = dyn_cast_or_null<GlobalVariable>(object);
      return global != nullptr && !global->hasLocalLinkage() ? global : nullptr;
    };
    for (const LockSite::Target &target : site.targets)
      if (target.base != nullptr && target.offsets.size() == 1)
        if (const GlobalVariable *global = outside(getUnderlyingObject(target.base)))
          return global;
    for (const ObjectRange &range : lock_ranges(site, points_to_))
      if (const GlobalVariable *global = outside(points_to_.label(range.object)))
        return global;
    return nullptr;
  }

  Status check_names() {
    for (const LockSite *site : sites_)
      if (const GlobalVariable *global = named_outside(*site))
        return Error{fmt::format("{}: lock '{}' may lie in '{}', which code outside the program "
                                 "can name and lock; keep it a lock",
                                 place_of(*site->call), named_.name_in_file(*site),
                                 source_name(*global))};
    return Unit{};
  }

  // What calls a shared library may hand it a lock of its own; not one in a record of which the
  // library knows the field.
  Status check_callers() {
    if (!shared_)
      return Unit{};
    for (const LockSite *site : sites_)
      if (!lies_in_known_place(*site))
        return Error{fmt::format("{}: lock '{}' may be one of the code that calls this shared "
                                 "library; keep it a lock",
                                 place_of(*site->call), named_.name_in_file(*site))};
    return Unit{};
  }

  // A handler may interrupt a section of its own thread, which excludes others only.
  Status check_handlers() {
    for (const PointsToAnalysis::Spawn &spawn : points_to_.spawns()) {
      if (spawn.when != Callback::When::signal)
        continue;
      SetVector<const Function *> run;
      run.insert(spawn.function);
      for (std::size_t i = 0; i < run.size(); ++i) { // grows
        for (const LockSite *site : sites_)
          if (site->call->getFunction() == run[i])
            return Error{fmt::format("{}: lock '{}' is used here by the signal handler '{}', which "
                                     "may interrupt a section; keep it a lock",
                                     place_of(*site->call), named_.name_in_file(*site),
                                     shown_name(*spawn.function))};
        for (const Instruction &instruction : instructions(*run[i]))
          if (const auto *call = dyn_cast<CallBase>(&instruction))
            for (const Function *target : points_to_.targets(*call))
              run.insert(target);
      }
    }
    return Unit{};
  }

  // A marked section that runs again would find the list of what its thread holds as it left it;
  // one that finds a lock held by a region that stays real cannot end to wait for it.
  Status check_marked() {
    if (tried_.empty() && looked_at_.empty())
      return Unit{};
    SetVector<const Function *> inside;
    for (const Section &section : discover_sections(module_))
      if (section.kind != SectionKind::lock_region)
        inside.insert(section.function);
    for (std::size_t i = 0; i < inside.size(); ++i) { // grows
      for (const LockSite *site : calls_.sites(*inside[i]))
        if (const auto section = named_.section_of(*site); section && looked_at_.contains(*section))
          return Error{fmt::format("{}: lock '{}' is used here in a section that the program "
                                   "marks, and regions of it stay real; keep it a lock",
                                   place_of(*site->call), named_.name_in_file(*site))};
        else if (section && tried_.contains(*section))
          return Error{fmt::format("{}: lock '{}' is used here in a section that the program "
                                   "marks, and tried at {}; keep it a lock",
                                   place_of(*site->call), named_.name_in_file(*site),
                                   place_of(*a_try_->call))};
      for (const Instruction &instruction : instructions(*inside[i]))
        if (const auto *call = dyn_cast<CallBase>(&instruction))
          for (const Function *target : points_to_.targets(*call))
            inside.insert(target);
    }
    return Unit{};
  }

  Module &module_;
  const LockCalls &calls_;
  const NamedLocks &named_;
  const PointsToAnalysis &points_to_;
  const LibraryLocks &library_;
  const bool shared_;
  std::vector<const LockSite *> sites_; // converted
  std::set<std::size_t> tried_;         // sections
  std::set<std::size_t> looked_at_;     // those with regions that stay real
  const LockSite *a_try_ = nullptr;
};

} // namespace

Status check_limits(Module &module, const LockCalls &calls, const NamedLocks &named,
                    const PointsToAnalysis &points_to, const LibraryLocks &library, bool shared) {
  return Limits(module, calls, named, points_to, library, shared).check();
}

} // namespace tandem
