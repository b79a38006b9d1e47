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
#include <cstdint>

namespace tandem {

using namespace llvm;

namespace {

constexpr std::size_t kMostInlined = 100;  // instructions of the function that is called
constexpr std::uint64_t kMostFrame = 1024; // bytes of locals; LLVM's inliner has the same bound

} // namespace

bool has_cycle(const Function &function) {
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> edges;
  FindFunctionBackedges(function, edges);
  return !edges.empty();
}

namespace {

// Of its own locals.
std::uint64_t frame_bytes(const Function &function) {
  std::uint64_t bytes = 0;
  for (const Instruction &instruction : instructions(function))
    if (const auto *local = dyn_cast<AllocaInst>(&instruction))
      if (const auto size = local->getAllocationSize(function.getDataLayout()))
        bytes += size->getKnownMinValue();
  return bytes;
}

// Those that may be part of it by then count, too: what it calls.
std::uint64_t frame_bytes_below(const Function &function) {
  std::uint64_t bytes = frame_bytes(function);
  for (const Instruction &instruction : instructions(function))
    if (const auto *call = dyn_cast<CallBase>(&instruction))
      if (const Function *callee = called_function(*call);
          callee != nullptr && !callee->isDeclaration())
        bytes += frame_bytes(*callee);
  return bytes;
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

} // namespace

bool may_get_frame(const Function &caller, const Function &callee) {
  return frame_bytes_below(callee) <= kMostFrame || !may_recurse(caller);
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
