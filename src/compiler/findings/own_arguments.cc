// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/own_arguments.h"

#include "compiler/effects/unpublished.h"
#include "compiler/sections/called_function.h"

#include "llvm/IR/Instructions.h"

#include <set>

namespace tandem {
namespace {

using namespace llvm;

// What a variable that nothing but loads and one store know of holds.
const Value *only_value(const Value &value) {
  const auto *load = dyn_cast<LoadInst>(&value);
  const auto *slot = load == nullptr ? nullptr : dyn_cast<AllocaInst>(load->getPointerOperand());
  const Value *stored = nullptr;
  if (slot == nullptr)
    return nullptr;
  for (const User *user : slot->users()) {
    const auto *store = dyn_cast<StoreInst>(user);
    if (store != nullptr && store->getPointerOperand() == slot && stored == nullptr)
      stored = store->getValueOperand();
    else if (store != nullptr || (!isa<LoadInst>(user) && !is_marker(*cast<Instruction>(user))))
      return nullptr;
  }
  return stored;
}

// Whether the value is computed from what `is_source` says so that two sources give two values.
bool follows_from(const Value &value, function_ref<bool(const Value &)> is_source,
                  unsigned depth = 12) {
  if (is_source(value))
    return true;
  if (depth == 0)
    return false;
  if (const Value *held = only_value(value))
    return follows_from(*held, is_source, depth - 1);
  if (isa<PtrToIntInst, IntToPtrInst, SExtInst, ZExtInst>(value))
    return follows_from(*cast<Instruction>(value).getOperand(0), is_source, depth - 1);
  const auto *element = dyn_cast<GetElementPtrInst>(&value);
  if (element == nullptr)
    return false;
  const Value *moving = nullptr; // what is not the same in all threads
  for (const Value *operand : element->operands())
    if (!isa<Constant>(operand) && !isa<AllocaInst>(operand)) {
      if (moving != nullptr)
        return false;
      moving = operand;
    }
  return moving != nullptr && follows_from(*moving, is_source, depth - 1);
}

// Whether a pointer follows from the argument of a function, also where that, and nothing else, is
// given to the pointer's own function.
bool leads_from_argument(const Value &pointer, const Function &begin, unsigned calls = 4) {
  return follows_from(pointer, [&](const Value &value) {
    const auto *argument = dyn_cast<Argument>(&value);
    if (argument == nullptr || argument->getParent() == &begin || calls == 0)
      return argument != nullptr && argument->getParent() == &begin;
    const Function &function = *argument->getParent();
    return !function.use_empty() && all_of(function.uses(), [&](const Use &use) {
      const auto *call = dyn_cast<CallBase>(use.getUser());
      return call != nullptr && call->isCallee(&use) && argument->getArgNo() < call->arg_size() &&
             leads_from_argument(*call->getArgOperand(argument->getArgNo()), begin, calls - 1);
    });
  });
}

} // namespace

bool OwnArguments::leads_from(const Entry &entry, const Value &pointer) {
  return entry.kind == EntryKind::thread && leads_from_argument(pointer, *entry.function);
}

bool OwnArguments::guard(const Entry &entry, const Access &one, const Access &other) {
  return leads_from(entry, *one.pointer) && leads_from(entry, *other.pointer) && are_apart(entry);
}

// Whether no two threads of the entry are created with one argument.
bool OwnArguments::are_apart(const Entry &entry) {
  const auto [known, fresh] = known_.try_emplace(entry.function, false);
  if (!fresh)
    return known->second;
  std::set<const Value *> given;
  for (const PointsToAnalysis::Spawn &spawn : view_.points_to.spawns()) {
    if (spawn.function != entry.function)
      continue;
    const Function *callee = called_function(*spawn.call);
    if (callee == nullptr || callee->getName() != "pthread_create" || spawn.call->arg_size() != 4)
      return false;
    const Value *argument = spawn.call->getArgOperand(3);
    const auto counts = [&](const Value &value) { // a variable that the loop goes on with
      const auto *load = dyn_cast<LoadInst>(&value);
      return load != nullptr && isa<AllocaInst>(load->getPointerOperand()) &&
             value.getType()->isIntegerTy() && only_value(value) == nullptr;
    };
    if (may_follow(*spawn.call, *spawn.call)
            ? !follows_from(*argument, counts)
            : !isa<Constant>(argument) || !given.insert(argument).second)
      return false;
  }
  return known->second = true;
}

} // namespace tandem
