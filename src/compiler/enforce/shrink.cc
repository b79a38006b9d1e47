// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/enforce/shrink.h"

#include "compiler/enforce/allocations.h"
#include "compiler/enforce/outline.h"
#include "compiler/instrument/barriers.h"
#include "compiler/instrument/captured.h"
#include "compiler/sections/called_function.h"
#include "compiler/sections/promises.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

namespace tandem {
namespace {

using namespace llvm;

// Whether no other thread can tell when, or whether, `instruction` runs.
bool computes_only(const Instruction &instruction, const Actions &actions) {
  if (instruction.isAtomic())
    return false;
  if (is_allocated_first(instruction)) // nobody knows the memory
    return true;
  if (const auto *load = dyn_cast<LoadInst>(&instruction))
    return Barriers::is_private(load->getPointerOperand());
  if (const auto *store = dyn_cast<StoreInst>(&instruction))
    return Barriers::is_private(store->getPointerOperand());
  if (const auto *call = dyn_cast<CallBase>(&instruction)) {
    if (const auto *intrinsic = dyn_cast<IntrinsicInst>(call))
      return intrinsic->isAssumeLikeIntrinsic() || intrinsic->doesNotAccessMemory();
    for (unsigned i = 0; i < call->arg_size(); ++i) // the call copies it
      if (call->isByValArgument(i) && !Barriers::is_private(call->getArgOperand(i)))
        return false;
    const Function *callee = called_function(*call);
    return callee != nullptr && actions.irrevocable_action(*call).empty() &&
           actions.computes_only(*callee);
  }
  return !instruction.mayReadOrWriteMemory();
}

// Turns local variables into values. False where some must stay in memory: then a restart would
// find them changed.
bool promote_locals(Function &function) {
  promote_variables(function);
  return none_of(instructions(function),
                 [](const Instruction &instruction) { return isa<AllocaInst>(instruction); });
}

// Whether the block may run again after it ran, in a loop of any shape.
bool is_in_cycle(BasicBlock *block, const DominatorTree &dominators) {
  return any_of(successors(block), [&](BasicBlock *next) {
    return isPotentiallyReachable(next, block, /*ExclusionSet=*/nullptr, &dominators);
  });
}

// The instruction from which on the section must be atomic.
Instruction &first_of(ArrayRef<Instruction *> shared, DominatorTree &dominators) {
  BasicBlock *common = shared.front()->getParent();
  for (Instruction *instruction : shared)
    common = dominators.findNearestCommonDominator(common, instruction->getParent());
  while (is_in_cycle(common, dominators))
    common = dominators.getNode(common)->getIDom()->getBlock();
  for (Instruction &instruction : *common)
    if (is_contained(shared, &instruction))
      return instruction;
  return *common->getTerminator();
}

// Whether anything worth the outlining comes before `start`, or leads past it.
bool gains(Instruction &start, const DominatorTree &dominators) {
  const BasicBlock *block = start.getParent();
  const Function &function = *block->getParent();
  if (!all_of(function, [&](const BasicBlock &other) {
        return &other == &function.getEntryBlock() || dominators.dominates(block, &other);
      }))
    return true;
  for (const BasicBlock *before : {&function.getEntryBlock(), block})
    for (const Instruction &instruction : *before) {
      if (&instruction == &start)
        break;
      if (isa<CallBase>(instruction) && !isa<IntrinsicInst>(instruction))
        return true;
    }
  return false;
}

// Of a function that CodeExtractor made: marks the arguments that are memory which its caller has
// allocated for it, where that otherwise only compares and returns the address.
void mark_allocated(Function &outlined) {
  const auto &call = *cast<CallBase>(outlined.user_back());
  for (Argument &argument : outlined.args()) {
    const auto *made = dyn_cast<CallBase>(call.getArgOperand(argument.getArgNo()));
    if (made != nullptr && is_allocated_first(*made) &&
        all_of(made->users(), [&](const User *user) {
          return user == &call || isa<ICmpInst>(user) || isa<ReturnInst>(user);
        }))
      mark_fresh(argument);
  }
}

} // namespace

std::vector<Instruction *> shared_instructions(Function &section, const Actions &actions) {
  std::vector<Instruction *> shared;
  const DominatorTree dominators(section);
  for (Instruction &instruction : instructions(section))
    if (dominators.isReachableFromEntry(instruction.getParent()) &&
        !computes_only(instruction, actions))
      shared.push_back(&instruction);
  return shared;
}

Function &shrink(Function &section, ArrayRef<Instruction *> shared) {
  if (shared.empty() || section.hasOptNone() || section.isVarArg() || section.hasPersonalityFn() ||
      any_of(section, [](const BasicBlock &block) { return block.hasAddressTaken(); }) ||
      !promote_locals(section))
    return section;
  DominatorTree dominators(section);
  Instruction &start = first_of(shared, dominators);
  if (!gains(start, dominators))
    return section;
  BasicBlock *first = SplitBlock(start.getParent(), &start, &dominators);
  SmallVector<BasicBlock *> returns;
  for (BasicBlock &block : section)
    if (isa<ReturnInst>(block.getTerminator()))
      returns.push_back(&block);
  for (BasicBlock *block : returns) // returning is the caller's: the region gives back a value
    SplitBlock(block, block->getTerminator(), &dominators);
  SmallVector<BasicBlock *> region{first};
  for (BasicBlock &block : section)
    if (&block != first && dominators.dominates(first, &block) &&
        !isa<ReturnInst>(block.getTerminator()))
      region.push_back(&block);
  CodeExtractor extractor(region, &dominators, /*AggregateArgs=*/false, /*BFI=*/nullptr,
                          /*BPI=*/nullptr, /*AC=*/nullptr, /*AllowVarArgs=*/false,
                          /*AllowAlloca=*/false, /*AllocationBlock=*/nullptr, "tandem.shared");
  if (!extractor.isEligible())
    return section;
  const CodeExtractorAnalysisCache cache(section);
  const Variables variables = variables_of(section);
  Function *outlined = extractor.extractCodeRegion(cache);
  if (outlined == nullptr)
    return section;
  drop_promises(*outlined);
  mark_results(*outlined, variables);
  mark_allocated(*outlined);
  section.removeFnAttr(Attribute::NoInline);
  return *outlined;
}

} // namespace tandem
