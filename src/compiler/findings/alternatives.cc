// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/alternatives.h"

#include "compiler/effects/unpublished.h"
#include "compiler/sections/origin.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

#include <algorithm>
#include <vector>

namespace tandem {
namespace {

using namespace llvm;

// The block that alone stores the function's address to global variables and does nothing else with
// it; null: there is none.
const BasicBlock *only_store(const Function &function) {
  const BasicBlock *block = nullptr;
  for (const User *user : function.users()) {
    const auto *store = dyn_cast<StoreInst>(user);
    if (store == nullptr || store->getValueOperand() != &function ||
        !isa<GlobalVariable>(getUnderlyingObject(store->getPointerOperand())) ||
        (block != nullptr && block != store->getParent()))
      return nullptr;
    block = store->getParent();
  }
  return block;
}

} // namespace

Alternatives::Alternatives(const Module &module) {
  std::vector<const Function *> work;
  for (const Function &function : module)
    if (const BasicBlock *block = only_store(function); block != nullptr) {
      set_in_[&function] = block;
      work.push_back(&function);
      branches_.try_emplace(block);
    }
  const DataLayout &layout = module.getDataLayout();
  for (auto &[block, branch] : branches_)
    for (const Instruction &instruction : *block)
      if (const auto *store = dyn_cast<StoreInst>(&instruction)) {
        const Slot slot = base_of(store->getPointerOperand(), layout);
        branch.all.insert(slot);
        if (isa<Function>(store->getValueOperand()))
          branch.functions.insert(slot);
      }
  // What only these call belongs to their alternative.
  while (!work.empty()) {
    const BasicBlock *block = set_in_.lookup(work.back());
    SmallVector<const Function *, 8> called;
    for (const BasicBlock &part : *work.back())
      for (const Instruction &instruction : part)
        if (const auto *call = dyn_cast<CallBase>(&instruction))
          if (const Function *callee = call->getCalledFunction();
              callee != nullptr && !callee->isDeclaration())
            called.push_back(callee);
    work.pop_back();
    for (const Function *callee : called) {
      const auto is_of_alternative = [&](const Use &use) {
        const auto *call = dyn_cast<CallBase>(use.getUser());
        return call != nullptr && call->isCallee(&use) &&
               set_in_.lookup(call->getFunction()) == block;
      };
      if (all_of(callee->uses(), is_of_alternative) && set_in_.try_emplace(callee, block).second)
        work.push_back(callee);
    }
  }
}

bool Alternatives::exclude(const Function &a, const Function &b) const {
  const BasicBlock *one = set_in_.lookup(&a);
  const BasicBlock *other = set_in_.lookup(&b);
  if (one == nullptr || other == nullptr || one == other)
    return false;
  const Branch &of_one = branches_.find(one)->second;
  const Branch &of_other = branches_.find(other)->second;
  return one->getParent() == other->getParent() &&
         std::ranges::includes(of_one.all, of_other.functions) &&
         std::ranges::includes(of_other.all, of_one.functions) &&
         !may_follow(other->front(), one->front()) && !may_follow(one->front(), other->front());
}

} // namespace tandem
