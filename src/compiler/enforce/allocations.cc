// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/enforce/allocations.h"

#include "compiler/effects/actions.h"
#include "compiler/enforce/inlining.h"
#include "compiler/enforce/outline.h"
#include "compiler/sections/called_function.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Metadata.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace tandem {
namespace {

using namespace llvm;

constexpr const char *kFirst = "tandem.allocated.first";
constexpr int kMostLevels = 4; // of calls, down to the allocator

// Not calloc: a section that runs again would find what it has stored.
bool is_allocator(const CallBase &call, const Catalogue &catalogue) {
  const Function *callee = called_function(call);
  if (callee == nullptr || !callee->isDeclaration() || !isa<CallInst>(call))
    return false;
  const CatalogueEntry entry = catalogue.lookup(callee->getName().str());
  return entry.effect == ExternalEffect::tm_safe && entry.returns.value == PointerValue::fresh &&
         entry.replacement == "_ITM_malloc";
}

// The first call that each execution makes; null where the way there forks, is a loop's, or has
// what others may notice the order of.
CallBase *first_call(Function &function) {
  for (BasicBlock *block = &function.getEntryBlock(); block != nullptr;) {
    for (Instruction &instruction : *block) {
      if (const auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
          intrinsic != nullptr && is_harmless(*intrinsic))
        continue;
      if (auto *call = dyn_cast<CallBase>(&instruction))
        return call;
      if (instruction.isAtomic() || instruction.isVolatile())
        return nullptr;
    }
    BasicBlock *next = block->getSingleSuccessor();
    block = next != nullptr && next->getSinglePredecessor() != nullptr ? next : nullptr;
  }
  return nullptr;
}

// Does it; false where it cannot be done. The function has changed in either case.
bool bring_forward(Function &function, const Catalogue &catalogue) {
  for (int level = 0; level <= kMostLevels; ++level) {
    CallBase *call = first_call(function);
    if (call == nullptr)
      return false;
    if (is_allocator(*call, catalogue)) {
      promote_variables(function);
      if (!all_of(call->args(), [](const Use &use) { return isa<Constant, Argument>(use.get()); }))
        return false;
      call->moveBefore(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
      call->setMetadata(kFirst, MDNode::get(function.getContext(), {}));
      return true;
    }
    InlineFunctionInfo info;
    if (!can_inline(*call) || !InlineFunction(*call, info, /*MergeAttributes=*/true).isSuccess())
      return false;
  }
  return false;
}

} // namespace

void allocate_first(Function &section, const Catalogue &catalogue) {
  if (section.hasOptNone() || section.isVarArg() || section.hasPersonalityFn() ||
      any_of(section, [](const BasicBlock &block) { return block.hasAddressTaken(); }))
    return;
  ValueToValueMapTy map;
  Function *attempt = CloneFunction(&section, map);
  const bool can = bring_forward(*attempt, catalogue);
  attempt->eraseFromParent();
  if (can)
    bring_forward(section, catalogue);
}

bool is_allocated_first(const Instruction &instruction) { return instruction.hasMetadata(kFirst); }

} // namespace tandem
