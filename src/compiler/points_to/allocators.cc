// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the program that return newly allocated objects whose address they store nowhere
// else: wrappers of allocators, and factory functions.
#include "compiler/points_to/solver.h"
#include "compiler/sections/called_function.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IntrinsicInst.h"

namespace tandem {

using namespace llvm;

namespace {

constexpr unsigned kMostSteps = 4; // from function to function

// Whether the address of a local variable is only loaded from and stored to.
bool is_plain(const AllocaInst &slot) {
  return all_of(slot.uses(), [](const Use &use) {
    if (const auto *store = dyn_cast<StoreInst>(use.getUser()))
      return use.getOperandNo() == 1 && !store->isAtomic();
    const auto *intrinsic = dyn_cast<IntrinsicInst>(use.getUser());
    return isa<LoadInst>(use.getUser()) ||
           (intrinsic != nullptr && intrinsic->isAssumeLikeIntrinsic());
  });
}

// Adds the values that a pointer may be, through local variables and choices; none for null.
// Whether all are known.
bool add_sources(const Value &pointer, SmallPtrSetImpl<const Value *> &seen,
                 SmallVectorImpl<const CallBase *> &calls) {
  const Value &object = *getUnderlyingObject(&pointer, /*MaxLookup=*/0);
  if (isa<ConstantPointerNull>(object) || !seen.insert(&object).second)
    return true;
  if (const auto *call = dyn_cast<CallBase>(&object)) {
    calls.push_back(call);
    return true;
  }
  const auto is_known = [&](const Value *value) { return add_sources(*value, seen, calls); };
  if (const auto *phi = dyn_cast<PHINode>(&object))
    return all_of(phi->incoming_values(), [&](const Use &use) { return is_known(use.get()); });
  if (const auto *choice = dyn_cast<SelectInst>(&object))
    return is_known(choice->getTrueValue()) && is_known(choice->getFalseValue());
  const auto *load = dyn_cast<LoadInst>(&object);
  const auto *slot = load == nullptr ? nullptr : dyn_cast<AllocaInst>(load->getPointerOperand());
  return slot != nullptr && is_plain(*slot) && all_of(slot->users(), [&](const User *user) {
           const auto *store = dyn_cast<StoreInst>(user);
           return store == nullptr || is_known(store->getValueOperand());
         });
}

} // namespace

// Whether a function keeps a new pointer to itself: it may write what it leads to, and return it,
// but stores it nowhere else.
bool PointsToGraph::keeps(const Value &made, bool may_return, unsigned steps) {
  SmallPtrSet<const Value *, 8> seen;
  SmallVector<const Value *, 8> work{&made};
  const auto add_loads = [&](const AllocaInst &slot) {
    for (const User *user : slot.users())
      if (isa<LoadInst>(user)) {
        if (!user->getType()->isPointerTy())
          return false; // as a number
        work.push_back(user);
      }
    return true;
  };
  while (!work.empty()) {
    const Value *pointer = work.pop_back_val();
    if (!seen.insert(pointer).second)
      continue;
    for (const Use &use : pointer->uses()) {
      const User *user = use.getUser();
      if (isa<GetElementPtrInst, CastInst, PHINode, SelectInst>(user) &&
          user->getType()->isPointerTy()) {
        work.push_back(user);
      } else if (const auto *store = dyn_cast<StoreInst>(user);
                 store != nullptr && use.getOperandNo() == 0) {
        const auto *slot = dyn_cast<AllocaInst>(store->getPointerOperand());
        if (slot == nullptr || !is_plain(*slot) || !add_loads(*slot))
          return false;
      } else if (const auto *call = dyn_cast<CallBase>(user)) {
        if (!call->isArgOperand(&use) || !callee_keeps(*call, call->getArgOperandNo(&use), steps))
          return false;
      } else if (!isa<LoadInst, StoreInst, ICmpInst>(user) &&
                 !(may_return && isa<ReturnInst>(user))) {
        return false;
      }
    }
  }
  return true;
}

// The same of a function that is called with it.
bool PointsToGraph::callee_keeps(const CallBase &call, unsigned argument, unsigned steps) {
  if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&call))
    return (isa<AnyMemIntrinsic>(intrinsic) && argument == 0) ||
           (intrinsic->isAssumeLikeIntrinsic() && // an annotation returns the pointer
            !intrinsic->getType()->isPointerTy());
  const Function *callee = called_function(call);
  if (callee == nullptr || argument >= callee->arg_size())
    return false;
  if (!callee->isDeclaration())
    return steps > 0 && keeps(*callee->getArg(argument), /*may_return=*/false, steps - 1);
  const CatalogueEntry &known = entry(*callee);
  return !known.captures.contains(argument) && !known.touches_anything && known.stores.empty() &&
         known.callbacks.empty() && known.returns.value == PointerValue::nothing &&
         known.returns_also.empty();
}

bool PointsToGraph::find_returns_new(const Function &function, unsigned steps) {
  if (!function.getReturnType()->isPointerTy())
    return false;
  SmallPtrSet<const Value *, 8> seen;
  SmallVector<const CallBase *, 4> calls;
  for (const BasicBlock &block : function)
    if (const auto *end = dyn_cast<ReturnInst>(block.getTerminator());
        end != nullptr && !add_sources(*end->getReturnValue(), seen, calls))
      return false;
  return !calls.empty() && all_of(calls, [&](const CallBase *call) {
    const Function *callee = called_function(*call);
    return callee != nullptr && callee != &function && !callee->isIntrinsic() &&
           returns_new(*callee, steps) && keeps(*call, /*may_return=*/true, kMostSteps);
  });
}

bool PointsToGraph::returns_new(const Function &function, unsigned steps) {
  if (function.isDeclaration())
    return entry(function).returns.value == PointerValue::fresh;
  if (is_allocator(function))
    return true;
  if (steps == 0)
    return false;
  if (const auto known = returns_new_.find(&function); known != returns_new_.end())
    return known->second;
  const bool found = find_returns_new(function, steps - 1);
  if (found || steps == kMostSteps)
    returns_new_[&function] = found;
  return found;
}

bool PointsToGraph::returns_new(const Function &function) {
  return returns_new(function, kMostSteps);
}

} // namespace tandem
