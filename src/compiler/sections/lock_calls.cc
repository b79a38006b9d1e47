// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/lock_calls.h"

#include "compiler/sections/access_path.h"
#include "compiler/sections/called_function.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tandem {
namespace {

using namespace llvm;

// sizeof(pthread_mutex_t) on x86-64: where a lock is the first field of a struct, the size tells
// them apart.
constexpr std::uint64_t kMutexBytes = 40;

struct LockFunction {
  LockOperation operation;
  unsigned argument; // which argument is the lock
};

std::optional<LockFunction> lock_function(StringRef name) {
  return StringSwitch<std::optional<LockFunction>>(name)
      .Case("pthread_mutex_lock", LockFunction{LockOperation::lock, 0})
      .Cases("pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_mutex_clocklock",
             LockFunction{LockOperation::trylock, 0})
      .Cases("pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
             LockFunction{LockOperation::wait, 1})
      .Case("pthread_mutex_unlock", LockFunction{LockOperation::unlock, 0})
      .Default(std::nullopt);
}

// The values that `value` may be, looking through casts and local variables; null pointers not
// counted.
void sources(const Value *value, SmallPtrSetImpl<const Value *> &found, unsigned depth = 0) {
  value = value->stripPointerCasts();
  const auto *load = dyn_cast<LoadInst>(value);
  const auto *slot = load == nullptr ? nullptr : dyn_cast<AllocaInst>(load->getPointerOperand());
  if (slot == nullptr || depth > 4) {
    if (!isa<ConstantPointerNull>(value))
      found.insert(value);
    return;
  }
  for (const User *user : slot->users())
    if (const auto *store = dyn_cast<StoreInst>(user)) {
      if (store->getPointerOperand() == slot)
        sources(store->getValueOperand(), found, depth + 1);
      else
        found.insert(value); // the variable's address escapes: anything may be in it
    }
}

// The argument of its function that `value` always is.
std::optional<unsigned> argument_behind(const Value *value) {
  SmallPtrSet<const Value *, 4> found;
  sources(value, found);
  if (found.size() == 1)
    if (const auto *argument = dyn_cast<Argument>(*found.begin()))
      return argument->getArgNo();
  return std::nullopt;
}

} // namespace

LockCalls::LockCalls(const Module &module) {
  find_direct(module);
  for (const Function &function : module)
    find_wrapper(function);
  if (wrappers_.empty())
    return;
  for (const Function &function : module) {
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr)
        continue;
      if (std::optional<LockSite> site = through_wrapper(*call))
        sites_[call] = std::move(*site);
    }
  }
  // A pointer that a trylock wrapper returned is the lock: name it so where it is released.
  for (auto &[instruction, site] : sites_) {
    if (site.named)
      continue;
    SmallPtrSet<const Value *, 4> found;
    const auto *call = cast<CallBase>(instruction);
    sources(call->getArgOperand(site.operation == LockOperation::wait ? 1 : 0), found);
    const LockSite *origin = nullptr;
    for (const Value *value : found) {
      const auto *producer = dyn_cast<Instruction>(value);
      const LockSite *producing = producer == nullptr ? nullptr : at(*producer);
      if (producing == nullptr || (origin != nullptr && origin->lock != producing->lock)) {
        origin = nullptr;
        break;
      }
      origin = producing;
    }
    if (origin != nullptr && origin->named) {
      site.lock = std::string(origin->lock);
      site.named = true;
      site.own = true;
    }
  }
}

void LockCalls::find_direct(const Module &module) {
  for (const Function &function : module)
    for (const Instruction &instruction : instructions(function)) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      const Function *callee = call == nullptr ? nullptr : called_function(*call);
      if (callee == nullptr || !callee->isDeclaration())
        continue;
      const std::optional<LockFunction> known = lock_function(callee->getName());
      if (!known || call->arg_size() <= known->argument)
        continue;
      const AccessPath path = access_path(call->getArgOperand(known->argument), kMutexBytes);
      LockSite site;
      site.call = call;
      site.operation = known->operation;
      site.lock = path.print();
      site.named = path.global != nullptr;
      sites_[call] = site;
    }
}

// A wrapper acquires or releases one lock and does nothing else: no other call, no store but to its
// own variables.
void LockCalls::find_wrapper(const Function &function) {
  if (function.isDeclaration() || function.isVarArg())
    return;
  const LockSite *only = nullptr;
  for (const Instruction &instruction : instructions(function)) {
    if (const auto *store = dyn_cast<StoreInst>(&instruction)) {
      if (!isa<AllocaInst>(store->getPointerOperand()->stripInBoundsOffsets()))
        return;
    } else if (const auto *call = dyn_cast<CallBase>(&instruction)) {
      if (isa<IntrinsicInst>(call))
        continue;
      const auto found = sites_.find(call);
      if (found == sites_.end() || only != nullptr ||
          found->second.operation == LockOperation::wait)
        return;
      only = &found->second;
    }
  }
  if (only == nullptr)
    return;
  // A trylock's result must be recognisable at the call: a pointer to the lock, or pthread's own
  // result.
  if (only->operation == LockOperation::trylock && !function.getReturnType()->isPointerTy() &&
      function.size() != 1)
    return;
  Wrapper wrapper{only->operation, *only, std::nullopt};
  wrapper.inner.acquired_is_zero = !function.getReturnType()->isPointerTy();
  if (!only->named) {
    wrapper.argument = argument_behind(only->call->getArgOperand(0));
    if (!wrapper.argument)
      return;
  }
  wrappers_.try_emplace(&function, std::move(wrapper));
}

std::optional<LockSite> LockCalls::through_wrapper(const CallBase &call) const {
  const Function *callee = called_function(call);
  const auto found = callee == nullptr ? wrappers_.end() : wrappers_.find(callee);
  if (found == wrappers_.end())
    return std::nullopt;
  const Wrapper &wrapper = found->second;
  LockSite site = wrapper.inner;
  site.call = &call;
  site.wrapper = callee;
  if (wrapper.argument) {
    if (call.arg_size() <= *wrapper.argument)
      return std::nullopt;
    const AccessPath path = access_path(call.getArgOperand(*wrapper.argument), kMutexBytes);
    site.lock = path.print();
    site.named = path.global != nullptr;
  }
  return site;
}

const LockSite *LockCalls::at(const Instruction &instruction) const {
  const auto found = sites_.find(&instruction);
  return found == sites_.end() ? nullptr : &found->second;
}

std::vector<const LockSite *> LockCalls::sites(const Function &function) const {
  std::vector<const LockSite *> result;
  for (const Instruction &instruction : instructions(function))
    if (const LockSite *site = at(instruction))
      result.push_back(site);
  return result;
}

} // namespace tandem
