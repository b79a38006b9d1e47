// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/loops.h"

#include "compiler/sections/origin.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"

#include <optional>

namespace tandem {

using namespace llvm;

bool Loops::always(const Loop &loop, const Instruction &at) const {
  const BasicBlock *latch = loop.getLoopLatch();
  return latch != nullptr && tree_.dominates(at.getParent(), latch);
}

std::set<std::pair<const BasicBlock *, const BasicBlock *>>
Loops::other_sides(const BasicBlock &block) const {
  std::set<std::pair<const BasicBlock *, const BasicBlock *>> sides;
  const auto *node = tree_.getNode(&block);
  for (const auto *above = node == nullptr ? nullptr : node->getIDom(); above != nullptr;
       above = above->getIDom()) {
    SmallPtrSet<const BasicBlock *, 16> leading{&block, above->getBlock()};
    SmallVector<const BasicBlock *, 16> work{&block};
    while (!work.empty())
      for (const BasicBlock *before : predecessors(work.pop_back_val()))
        if (leading.insert(before).second)
          work.push_back(before);
    for (const BasicBlock *on_way : leading)
      for (const BasicBlock *next : successors(on_way))
        if (on_way != &block && !leading.contains(next) && !goes_on(*on_way, *next, block))
          sides.emplace(on_way, next);
  }
  return sides;
}

std::vector<std::pair<const BranchInst *, bool>>
Loops::conditions_of(const BasicBlock &block) const {
  constexpr unsigned kMost = 8;
  std::vector<std::pair<const BranchInst *, bool>> conditions;
  const auto *node = tree_.getNode(&block);
  for (unsigned steps = 0; steps < kMost && node != nullptr; ++steps) {
    node = node->getIDom();
    const auto *branch =
        node == nullptr ? nullptr : dyn_cast<BranchInst>(node->getBlock()->getTerminator());
    if (branch == nullptr || !branch->isConditional())
      continue;
    for (const bool side : {true, false})
      if (tree_.dominates(BasicBlockEdge(branch->getParent(), branch->getSuccessor(side ? 0 : 1)),
                          &block))
        conditions.emplace_back(branch, side);
  }
  return conditions;
}

// Whether a step stays in a loop that comes to its end before control is at `block`.
bool Loops::goes_on(const BasicBlock &from, const BasicBlock &to, const BasicBlock &block) const {
  for (const Loop *loop = loops_.getLoopFor(&to); loop != nullptr; loop = loop->getParentLoop())
    if (loop->contains(&from) && !loop->contains(&block))
      return true;
  return false;
}

namespace {

// Whether the loop changes the variable that a value is loaded from, or that it is computed from by
// adding a constant: `i`, `i + 1`, but not `--i`.
bool counts(const Loop &loop, const Value &value) {
  const Value *counter = &value;
  while (true)
    if (const auto *cast = dyn_cast<CastInst>(counter))
      counter = cast->getOperand(0);
    else if (const auto *sum = dyn_cast<BinaryOperator>(counter);
             sum != nullptr && sum->getOpcode() == Instruction::Add && sum->hasOneUse() &&
             isa<ConstantInt>(sum->getOperand(1)))
      counter = sum->getOperand(0);
    else
      break;
  const auto *load = dyn_cast<LoadInst>(counter);
  return load != nullptr && any_of(load->getPointerOperand()->users(), [&](const User *user) {
           const auto *store = dyn_cast<StoreInst>(user);
           return store != nullptr && store->getPointerOperand() == load->getPointerOperand() &&
                  loop.contains(store);
         });
}

// The comparison that ends a loop when it begins a round; null where it ends otherwise.
const ICmpInst *ends_by(const Loop &loop) {
  const auto *branch = dyn_cast<BranchInst>(loop.getHeader()->getTerminator());
  return branch != nullptr && branch->isConditional() &&
                 loop.contains(branch->getSuccessor(0)) != loop.contains(branch->getSuccessor(1))
             ? dyn_cast<ICmpInst>(branch->getCondition())
             : nullptr;
}

// The variable that a loop ends by, what it holds before the loop, and what it is compared with.
struct Range {
  const Value *counter;
  const Value *first;
  const Value *bound;
};
std::optional<Range> range_of(const Loop &loop) {
  const ICmpInst *compare = ends_by(loop);
  const BasicBlock *before = loop.getLoopPredecessor();
  if (compare == nullptr || before == nullptr)
    return std::nullopt;
  const Value *counted = compare->getOperand(0);
  if (const auto *cast = dyn_cast<CastInst>(counted))
    counted = cast->getOperand(0);
  const auto *counter = dyn_cast<LoadInst>(counted);
  if (counter == nullptr || !counts(loop, *counter))
    return std::nullopt;
  for (const Instruction &instruction : reverse(*before))
    if (const auto *store = dyn_cast<StoreInst>(&instruction);
        store != nullptr && store->getPointerOperand() == counter->getPointerOperand())
      return Range{counter->getPointerOperand(), store->getValueOperand(), compare->getOperand(1)};
  return std::nullopt;
}

// Whether a value is that of another one, or one less than it.
bool is_or_precedes(const Value &value, const Value &other) {
  const auto *one = dyn_cast<ConstantInt>(&value);
  const auto *next = dyn_cast<ConstantInt>(&other);
  if (one != nullptr && next != nullptr)
    return one->getSExtValue() == next->getSExtValue() ||
           one->getSExtValue() + 1 == next->getSExtValue();
  const auto *difference = dyn_cast<BinaryOperator>(&value);
  return same_value(value, other) ||
         (difference != nullptr &&
          is_contained({Instruction::Add, Instruction::Sub}, difference->getOpcode()) &&
          isa<ConstantInt>(difference->getOperand(1)) &&
          same_value(*difference->getOperand(0), other));
}

} // namespace

const Value *bound_of(const Loop &loop, bool likely) {
  SmallVector<BasicBlock *, 4> exiting;
  loop.getExitingBlocks(exiting);
  for (const BasicBlock *block : exiting)
    if (const auto *branch = dyn_cast<BranchInst>(block->getTerminator());
        branch != nullptr && branch->isConditional())
      if (const auto *compare = dyn_cast<ICmpInst>(branch->getCondition());
          compare != nullptr && compare->getOperand(1)->getType()->isIntegerTy() &&
          (!likely || counts(loop, *compare->getOperand(0))))
        return compare->getOperand(1);
  return nullptr;
}

const Value *counter_of(const Loop &loop) {
  const std::optional<Range> range = range_of(loop);
  return range ? range->counter : nullptr;
}

bool run_alike(const Loop &a, const Loop &b) {
  const std::optional<Range> one = range_of(a);
  const std::optional<Range> other = range_of(b);
  return !one || !other ||
         (same_value(*one->first, *other->first) && same_value(*one->bound, *other->bound)) ||
         is_or_precedes(*other->first, *one->bound) || is_or_precedes(*one->first, *other->bound);
}

} // namespace tandem
