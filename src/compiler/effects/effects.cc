// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/effects/effects.h"

#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Analysis/CaptureTracking.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

#include <algorithm>
#include <deque>

namespace tandem {
namespace {

using namespace llvm;

constexpr std::uint64_t kWhole = std::numeric_limits<std::uint64_t>::max();
constexpr const char *kMemoryName = "(memory)";

bool is_lock_operation(StringRef name) {
  return name.starts_with("pthread_mutex_") &&
         (name.ends_with("lock") || name == "pthread_mutex_unlock");
}

// Intrinsics that touch memory through their arguments; all others are harmless here (lifetime,
// debug, arithmetic, va_start and the like on the caller's own frame).
bool is_memory_intrinsic(const CallBase &call) {
  return isa<MemIntrinsic>(call) || isa<AtomicMemIntrinsic>(call);
}

// An argument passed in memory of the callee's own, whose address stays there.
bool is_own_argument(const Value *object) {
  const auto *argument = dyn_cast<Argument>(object);
  return argument != nullptr && argument->hasByValAttr() &&
         !PointerMayBeCaptured(argument, /*ReturnCaptures=*/true, /*StoreCaptures=*/true);
}

// Functions that keep or hand on the function that they get, and do not run it before they return.
bool runs_later(StringRef name) {
  static const StringSet<> kLater{"pthread_create", "thrd_create",    "atexit",
                                  "on_exit",        "at_quick_exit",  "__cxa_atexit",
                                  "signal",         "pthread_atfork", "pthread_key_create",
                                  "event_set",      "event_assign",   "event_new"};
  return kLater.contains(name);
}

} // namespace

bool is_harmless(const IntrinsicInst &intrinsic) {
  if (intrinsic.isAssumeLikeIntrinsic() || intrinsic.doesNotAccessMemory())
    return true;
  switch (intrinsic.getIntrinsicID()) {
  case Intrinsic::vastart:
  case Intrinsic::vaend:
  case Intrinsic::vacopy:
  case Intrinsic::stacksave:
  case Intrinsic::stackrestore:
  case Intrinsic::prefetch:
  case Intrinsic::trap:
  case Intrinsic::ubsantrap:
  case Intrinsic::eh_typeid_for:
  case Intrinsic::experimental_noalias_scope_decl:
    return true;
  default:
    return false;
  }
}

Effects::Effects(const Module &module, const Catalogue &catalogue)
    : module_(module), catalogue_(catalogue) {
  location(Location{.name = kMemoryName});
  for (const Function &function : module)
    if (!function.isIntrinsic() && !function.isDeclaration() &&
        function.hasAddressTaken(nullptr, /*IgnoreCallbackUses=*/false,
                                 /*IgnoreAssumeLikeCalls=*/true, /*IngoreLLVMUsed=*/true))
      address_taken_.push_back(&function);
}

std::uint32_t Effects::location(const Location &location) {
  const auto [entry, fresh] =
      ids_.try_emplace({location.object, location.begin, location.end, location.name},
                       static_cast<std::uint32_t>(locations_.size()));
  if (fresh)
    locations_.push_back(location);
  return entry->second;
}

// Whether the address of `global` is used for anything but loads, stores and memory intrinsics on
// it.
bool Effects::exposed(const GlobalVariable &global) {
  const auto known = exposed_.find(&global);
  if (known != exposed_.end())
    return known->second;
  const auto leaks = [&] {
    if (!global.hasLocalLinkage())
      return true;
    SmallVector<const User *, 16> work(global.users());
    SmallPtrSet<const User *, 16> seen;
    while (!work.empty()) {
      const User *user = work.pop_back_val();
      if (!seen.insert(user).second || isa<LoadInst>(user) || isa<ICmpInst>(user))
        continue;
      if (isa<GEPOperator>(user) || isa<BitCastOperator>(user) ||
          isa<AddrSpaceCastOperator>(user)) {
        append_range(work, user->users());
        continue;
      }
      if (const auto *store = dyn_cast<StoreInst>(user)) {
        const Value *stored = store->getValueOperand();
        if (stored == &global || getUnderlyingObject(stored, 0) == &global)
          return true;
        continue;
      }
      if (isa<IntrinsicInst>(user) && user->getType()->isPointerTy()) {
        append_range(work, user->users()); // llvm.threadlocal.address and the like return it
        continue;
      }
      if (const auto *call = dyn_cast<CallBase>(user)) {
        const Function *callee = called_function(*call);
        if (is_memory_intrinsic(*call) || (callee != nullptr && callee->isIntrinsic()) ||
            (callee != nullptr && callee->isDeclaration() &&
             (is_lock_operation(callee->getName()) ||
              !catalogue_.lookup(callee->getName().str()).captures)))
          continue;
      }
      return true;
    }
    return false;
  };
  return exposed_[&global] = leaks();
}

bool Effects::captured(const AllocaInst &slot) {
  const auto known = captured_.find(&slot);
  if (known != captured_.end())
    return known->second;
  return captured_[&slot] =
             PointerMayBeCaptured(&slot, /*ReturnCaptures=*/true, /*StoreCaptures=*/true);
}

std::uint32_t Effects::global_location(const GlobalVariable &global, const Value *address,
                                       std::uint64_t size) {
  const DataLayout &layout = module_.getDataLayout();
  const auto next = static_cast<std::uint32_t>(objects_.size() + 1);
  Location found;
  found.object = objects_.try_emplace(&global, next).first->second;
  found.exposed = exposed(global);
  APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
  const Value *base =
      address->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  if (base == &global && size != kWhole && offset.isNonNegative()) {
    found.begin = offset.getZExtValue();
    found.end = found.begin + size;
  }
  found.name = access_path(address, size == kWhole ? 0 : size).print();
  return location(found);
}

void Effects::add_access(const Value *address, std::uint64_t size, bool reads, bool writes,
                         FunctionEffects &effects) {
  SmallVector<const Value *, 4> objects;
  getUnderlyingObjects(address, objects, nullptr, /*MaxLookup=*/0);
  for (const Value *object : objects) {
    std::uint32_t id = kMemoryObject;
    if (const auto *global = dyn_cast<GlobalVariable>(object)) {
      if (global->isConstant() || (global->isThreadLocal() && !exposed(*global)))
        continue;
      // Through a phi or a select the address is no constant offset from this object.
      id = global_location(*global, objects.size() == 1 ? address : object,
                           objects.size() == 1 ? size : kWhole);
    } else if (const auto *slot = dyn_cast<AllocaInst>(object)) {
      if (!captured(*slot))
        continue;
    } else if (is_own_argument(object) || isa<Function>(object) || isa<UndefValue>(object) ||
               isa<ConstantPointerNull>(object)) {
      continue;
    }
    if (reads)
      effects.reads.insert(id);
    if (writes)
      effects.writes.insert(id);
  }
}

std::vector<const Function *> Effects::targets(const CallBase &call) const {
  if (const Function *callee = called_function(call))
    return callee->isDeclaration() ? std::vector<const Function *>{}
                                   : std::vector<const Function *>{callee};
  if (call.isInlineAsm())
    return {};
  std::vector<const Function *> possible;
  for (const Function *function : address_taken_)
    if (function->arg_size() == call.arg_size() ||
        (function->isVarArg() && function->arg_size() <= call.arg_size()))
      possible.push_back(function);
  return possible;
}

std::string Effects::irrevocable_action(const Instruction &instruction) const {
  if (isa<AtomicRMWInst>(instruction) || isa<AtomicCmpXchgInst>(instruction) ||
      isa<FenceInst>(instruction) || instruction.isAtomic())
    return "(atomic operation)";
  const auto *call = dyn_cast<CallBase>(&instruction);
  if (call == nullptr)
    return "";
  if (call->isInlineAsm())
    // Empty assembly is a compiler barrier: it orders, and does nothing.
    return cast<InlineAsm>(call->getCalledOperand())->getAsmString().empty() ? ""
                                                                             : "(inline assembly)";
  const Function *callee = called_function(*call);
  if (callee == nullptr)
    return "(indirect call)";
  if (const auto *intrinsic = dyn_cast<IntrinsicInst>(call))
    return isa<MemIntrinsic>(intrinsic) || is_harmless(*intrinsic) ? "" : callee->getName().str();
  if (!callee->isDeclaration() || call->doesNotAccessMemory())
    return "";
  switch (catalogue_.lookup(callee->getName().str()).effect) {
  case ExternalEffect::pure:
  case ExternalEffect::thread_local_:
  case ExternalEffect::reads:
  case ExternalEffect::tm_safe:
    return "";
  case ExternalEffect::deferrable:
  case ExternalEffect::irrevocable:
    return source_name(*callee);
  }
  CHECK(false);
}

void Effects::add_call(const CallBase &call, FunctionEffects &effects) {
  if (const auto *transfer = dyn_cast<MemTransferInst>(&call)) {
    const auto *length = dyn_cast<ConstantInt>(transfer->getLength());
    const std::uint64_t size = length == nullptr ? kWhole : length->getZExtValue();
    add_access(transfer->getDest(), size, false, true, effects);
    add_access(transfer->getSource(), size, true, false, effects);
    return;
  }
  if (const auto *set = dyn_cast<MemSetInst>(&call)) {
    const auto *length = dyn_cast<ConstantInt>(set->getLength());
    add_access(set->getDest(), length == nullptr ? kWhole : length->getZExtValue(), false, true,
               effects);
    return;
  }
  for (const Function *target : targets(call))
    effects.callees.push_back(target);
  const Function *callee = called_function(call);
  if (callee != nullptr && !callee->isDeclaration())
    return;
  if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&call);
      intrinsic != nullptr && is_harmless(*intrinsic))
    return;
  if (callee != nullptr && is_lock_operation(callee->getName())) {
    effects.irrevocable.emplace(callee->getName().str(), true);
    effects.lock_operations.push_back(&call);
    return;
  }
  const std::string action = irrevocable_action(call);
  if (!action.empty())
    effects.irrevocable.emplace(action, false);
  if (call.doesNotAccessMemory() || (call.isInlineAsm() && action.empty()))
    return;
  const CatalogueEntry entry =
      callee == nullptr ? CatalogueEntry{} : catalogue_.lookup(callee->getName().str());
  if (entry.effect == ExternalEffect::pure || entry.effect == ExternalEffect::thread_local_)
    return;
  const bool anything =
      entry.effect == ExternalEffect::irrevocable || entry.effect == ExternalEffect::deferrable;
  const bool writes = (anything || entry.writes_arguments) && !call.onlyReadsMemory();
  for (const Value *argument : call.args())
    if (argument->getType()->isPointerTy())
      add_access(argument, kWhole, true, writes, effects);
  if (!anything)
    return;
  effects.reads.insert(kMemoryObject);
  if (writes)
    effects.writes.insert(kMemoryObject);
  for (const Function *function : callbacks(call))
    effects.callees.push_back(function);
}

// Functions of the program that an external function gets as an argument and so may run. Where the
// argument is a variable: all that fit anywhere, for the functions of libc that call back.
std::vector<const Function *> Effects::callbacks(const CallBase &call) const {
  const Function *callee = called_function(call);
  if (callee != nullptr && runs_later(callee->getName()))
    return {};
  std::vector<const Function *> passed;
  for (const Value *argument : call.args())
    if (const auto *function = dyn_cast<Function>(argument->stripPointerCastsAndAliases());
        function != nullptr && !function->isDeclaration())
      passed.push_back(function);
  static const StringSet<> kCallBack{"qsort",   "qsort_r", "bsearch", "lfind",        "lsearch",
                                     "tsearch", "tfind",   "tdelete", "twalk",        "ftw",
                                     "nftw",    "glob",    "scandir", "pthread_once", "call_once"};
  if (passed.empty() && (callee == nullptr || kCallBack.contains(callee->getName())))
    return address_taken_;
  return passed;
}

void Effects::add_instruction(const Instruction &instruction, FunctionEffects &effects) {
  const DataLayout &layout = module_.getDataLayout();
  if (instruction.isAtomic())
    effects.irrevocable.emplace(irrevocable_action(instruction), false);
  if (const auto *load = dyn_cast<LoadInst>(&instruction))
    add_access(load->getPointerOperand(), layout.getTypeStoreSize(load->getType()), true, false,
               effects);
  else if (const auto *store = dyn_cast<StoreInst>(&instruction))
    add_access(store->getPointerOperand(),
               layout.getTypeStoreSize(store->getValueOperand()->getType()), false, true, effects);
  else if (const auto *update = dyn_cast<AtomicRMWInst>(&instruction))
    add_access(update->getPointerOperand(), layout.getTypeStoreSize(update->getType()), true, true,
               effects);
  else if (const auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    add_access(exchange->getPointerOperand(),
               layout.getTypeStoreSize(exchange->getNewValOperand()->getType()), true, true,
               effects);
  else if (const auto *arguments = dyn_cast<VAArgInst>(&instruction))
    add_access(arguments->getPointerOperand(), kWhole, true, true, effects);
  else if (const auto *call = dyn_cast<CallBase>(&instruction))
    add_call(*call, effects);
}

const Effects::FunctionEffects &Effects::of_function(const Function &function) {
  const auto [entry, fresh] = functions_.try_emplace(&function);
  if (fresh)
    for (const Instruction &instruction : instructions(function))
      add_instruction(instruction, entry->second);
  return entry->second;
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
      always = always || (direct ? always_irrevocable(*callee, active)
                                 : !irrevocable_action(instruction).empty() && callee != nullptr);
    }
  }
  active.erase(&function);
  if (active.empty() || always || !met_recursion_)
    always_irrevocable_[&function] = always;
  if (active.empty())
    met_recursion_ = false;
  return always;
}

bool Effects::computes_only(const Function &function) {
  std::set<const Function *> seen{&function};
  std::vector<const Function *> work{&function};
  while (!work.empty()) {
    const Function *next = work.back();
    work.pop_back();
    if (next->isDeclaration())
      return false;
    const FunctionEffects &effects = of_function(*next);
    if (!effects.reads.empty() || !effects.writes.empty() || !effects.irrevocable.empty())
      return false;
    for (const Function *callee : effects.callees)
      if (seen.insert(callee).second)
        work.push_back(callee);
  }
  return true;
}

SectionEffects Effects::of(const Section &section) {
  SectionEffects result;
  FunctionEffects start;
  if (section.kind == SectionKind::lock_region) {
    for (const Instruction *instruction : section.body)
      add_instruction(*instruction, start);
  } else {
    start = of_function(*section.function);
    std::set<const Function *> active;
    result.irrevocable_at_begin = always_irrevocable(*section.function, active);
  }
  // Breadth first, so that the chain to each irrevocable callee is a shortest one.
  std::map<const Function *, const Function *> caller;
  std::deque<const Function *> work;
  std::map<std::string, ReportIrrevocable> irrevocable;
  const auto take = [&](const FunctionEffects &effects, const Function *self) {
    result.reads.insert(effects.reads.begin(), effects.reads.end());
    result.writes.insert(effects.writes.begin(), effects.writes.end());
    for (const auto &[callee, is_lock] : effects.irrevocable) {
      // The locks of a lock region's own program are what a conversion replaces: they do not make
      // its regions irrevocable.
      if ((is_lock && section.kind == SectionKind::lock_region) || irrevocable.contains(callee))
        continue;
      std::vector<std::string> chain{callee};
      for (const Function *at = self; at != nullptr; at = caller.at(at))
        chain.push_back(source_name(*at));
      chain.push_back(section.name);
      std::reverse(chain.begin(), chain.end());
      irrevocable[callee] = ReportIrrevocable{callee, std::move(chain)};
    }
    if (section.kind != SectionKind::lock_region)
      result.lock_operations.insert(result.lock_operations.end(), effects.lock_operations.begin(),
                                    effects.lock_operations.end());
    for (const Function *callee : effects.callees)
      if ((section.kind == SectionKind::lock_region || callee != section.function) &&
          caller.try_emplace(callee, self).second)
        work.push_back(callee);
  };
  take(start, nullptr);
  while (!work.empty()) {
    const Function *function = work.front();
    work.pop_front();
    take(of_function(*function), function);
  }
  for (auto &[callee, entry] : irrevocable)
    result.irrevocable.push_back(std::move(entry));
  return result;
}

} // namespace tandem
