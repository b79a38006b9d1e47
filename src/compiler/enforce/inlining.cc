// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/enforce/inlining.h"

#include "compiler/sections/called_function.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/InlineCost.h"
#include "llvm/IR/Attributes.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <cstddef>

namespace tandem {

using namespace llvm;

namespace {

constexpr std::size_t kMostInlined = 100; // instructions of the function that is called

} // namespace

bool has_cycle(const Function &function) {
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> edges;
  FindFunctionBackedges(function, edges);
  return !edges.empty();
}

bool may_recurse(const Function &function) {
  SmallPtrSet<const Function *, 32> seen;
  SmallVector<const Function *> below{&function};
  while (!below.empty())
    for (const Instruction &instruction : instructions(*below.pop_back_val())) {
      const auto *call = dyn_cast<CallBase>(&instruction);
      if (call == nullptr || call->isInlineAsm())
        continue;
      const Function *callee = called_function(*call);
      if (callee == &function || (callee == nullptr && function.hasAddressTaken()))
        return true;
      if (callee != nullptr && !callee->isDeclaration() && seen.insert(callee).second)
        below.push_back(callee);
    }
  return false;
}

bool can_inline(const CallBase &call) {
  const Function &caller = *call.getFunction();
  const Function *callee = called_function(call);
  const auto same = [&](StringRef attribute) { // or it may not fit the processor that runs it
    return !callee->hasFnAttribute(attribute) ||
           caller.getFnAttribute(attribute) == callee->getFnAttribute(attribute);
  };
  return isa<CallInst>(call) && callee != nullptr && !callee->isDeclaration() &&
         !callee->isInterposable() && callee != call.getFunction() &&
         callee->getFunctionType() == call.getFunctionType() && !callee->isVarArg() &&
         !callee->hasFnAttribute(Attribute::NoInline) && !callee->hasOptNone() &&
         !callee->hasPersonalityFn() && AttributeFuncs::areInlineCompatible(caller, *callee) &&
         same("target-cpu") && same("target-features") &&
         callee->getInstructionCount() <= kMostInlined && !has_cycle(*callee) &&
         isInlineViable(const_cast<Function &>(*callee)).isSuccess();
}

} // namespace tandem
