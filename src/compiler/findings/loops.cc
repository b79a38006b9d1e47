// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/loops.h"

#include "compiler/findings/place.h"
#include "compiler/sections/origin.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"

#include <cstdint>
#include <cstdlib>
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

// A value as another one and a constant, which is in bytes for pointers; only a constant if `base`
// is null.
struct Sum {
  const Value *base;
  std::int64_t offset;
  [[nodiscard]] Sum plus(std::int64_t more) const { return {base, offset + more}; }
  bool operator==(const Sum &other) const {
    return offset == other.offset &&
           (base == nullptr || other.base == nullptr ? base == other.base
                                                     : same_value(*base, *other.base));
  }
};
Sum sum_of(const Value &value, const DataLayout &layout) {
  if (value.getType()->isPointerTy()) {
    APInt offset(layout.getIndexTypeSizeInBits(value.getType()), 0);
    const Value *base = value.stripAndAccumulateConstantOffsets(layout, offset, true);
    return {base, offset.getSExtValue()};
  }
  if (const auto *constant = dyn_cast<ConstantInt>(&value); constant != nullptr)
    return {nullptr, constant->getSExtValue()};
  if (const auto *cast = dyn_cast<CastInst>(&value);
      cast != nullptr && cast->getSrcTy()->isIntegerTy())
    return sum_of(*cast->getOperand(0), layout);
  const auto *sum = dyn_cast<BinaryOperator>(&value);
  const auto *added = sum == nullptr ? nullptr : dyn_cast<ConstantInt>(sum->getOperand(1));
  if (added != nullptr && is_contained({Instruction::Add, Instruction::Sub}, sum->getOpcode()))
    return sum_of(*sum->getOperand(0), layout)
        .plus(sum->getOpcode() == Instruction::Add ? added->getSExtValue()
                                                   : -added->getSExtValue());
  return {&value, 0};
}

// What is added to the counter in a loop, and where: once in each round. No store if the text does
// not tell.
struct Step {
  const StoreInst *store = nullptr;
  std::int64_t size = 0;
};
Step step_of(const Loop &loop, const Value &counter, const DominatorTree &tree,
             const DataLayout &layout) {
  const StoreInst *only = nullptr;
  for (const User *user : counter.users())
    if (const auto *store = dyn_cast<StoreInst>(user);
        store != nullptr && store->getPointerOperand() == &counter && loop.contains(store)) {
      if (only != nullptr)
        return {};
      only = store;
    }
  const BasicBlock *latch = loop.getLoopLatch();
  if (only == nullptr || latch == nullptr || !tree.dominates(only->getParent(), latch))
    return {};
  const Sum stored = sum_of(*only->getValueOperand(), layout);
  const auto *load = dyn_cast_or_null<LoadInst>(stored.base);
  return load != nullptr && load->getPointerOperand() == &counter ? Step{only, stored.offset}
                                                                  : Step{};
}

// What a loop counts: the variable, what it holds when the loop begins, and while which comparison
// of it the loop goes on.
struct Range {
  const Value *counter;
  Sum first;
  Step step;
  CmpInst::Predicate goes_on; // signs left out
  std::int64_t shift;         // of what is compared, from what the counter holds in the header
  Sum bound;
  bool counter_is_pointer; // so that a step of any size is to the next element

  // What the counter holds when the last round begins; nothing if the text does not tell.
  [[nodiscard]] std::optional<Sum> last() const {
    const CmpInst::Predicate before = step.size > 0 ? CmpInst::ICMP_SLT : CmpInst::ICMP_SGT;
    if (step.size == 0 || !(counter_is_pointer || std::abs(step.size) == 1))
      return std::nullopt;
    if (goes_on == before || goes_on == CmpInst::ICMP_NE)
      return bound.plus(-shift - step.size);
    return goes_on == CmpInst::getNonStrictPredicate(before) ? std::optional(bound.plus(-shift))
                                                             : std::nullopt;
  }
};

// What a value that is loaded from the counter is more than the counter is in the header.
std::int64_t stepped(const LoadInst &load, const Step &step, const DominatorTree &tree) {
  return step.store != nullptr && tree.dominates(step.store, &load) ? step.size : 0;
}

std::optional<Range> range_of(const Loop &loop, const DominatorTree &tree) {
  const auto *branch = dyn_cast<BranchInst>(loop.getHeader()->getTerminator());
  const auto *compare = branch == nullptr || !branch->isConditional()
                            ? nullptr
                            : dyn_cast<ICmpInst>(branch->getCondition());
  const BasicBlock *before = loop.getLoopPredecessor();
  if (compare == nullptr || before == nullptr ||
      loop.contains(branch->getSuccessor(0)) == loop.contains(branch->getSuccessor(1)))
    return std::nullopt;
  const DataLayout &layout = branch->getModule()->getDataLayout();
  for (const unsigned side : {0U, 1U}) {
    const Sum compared = sum_of(*compare->getOperand(side), layout);
    const auto *load = dyn_cast_or_null<LoadInst>(compared.base);
    if (load == nullptr || !counts(loop, *load))
      continue;
    const Value *counter = load->getPointerOperand();
    const Step step = step_of(loop, *counter, tree, layout);
    CmpInst::Predicate goes_on =
        side == 0 ? compare->getPredicate() : compare->getSwappedPredicate();
    if (!loop.contains(branch->getSuccessor(0)))
      goes_on = CmpInst::getInversePredicate(goes_on);
    if (CmpInst::isUnsigned(goes_on))
      goes_on = ICmpInst::getSignedPredicate(goes_on);
    for (const Instruction &instruction : reverse(*before))
      if (const auto *store = dyn_cast<StoreInst>(&instruction);
          store != nullptr && store->getPointerOperand() == counter)
        return Range{counter,
                     sum_of(*store->getValueOperand(), layout),
                     step,
                     goes_on,
                     compared.offset + stepped(*load, step, tree),
                     sum_of(*compare->getOperand(1 - side), layout),
                     load->getType()->isPointerTy()};
  }
  return std::nullopt;
}

// What the number that a value is computed from is more than the counter is in the header, as `i -
// 1` is in `&array[i - 1]`; nothing where it is not computed from the counter.
std::optional<std::int64_t> index_in(const Value &value, const Range &range,
                                     const DominatorTree &tree, const DataLayout &layout,
                                     unsigned depth = 12) {
  const Sum sum = sum_of(value, layout);
  const auto *user = dyn_cast_or_null<User>(sum.base);
  if (user == nullptr || depth == 0 || isa<PHINode>(user))
    return std::nullopt;
  std::optional<std::int64_t> found;
  if (const auto *load = dyn_cast<LoadInst>(user)) {
    if (load->getPointerOperand() == range.counter)
      return sum.offset + stepped(*load, range.step, tree);
    const auto *variable = dyn_cast<AllocaInst>(load->getPointerOperand());
    const StoreInst *store = variable == nullptr ? nullptr : only_store(*variable);
    if (store != nullptr) {
      found = index_in(*store->getValueOperand(), range, tree, layout, depth - 1);
      return found && user->getType()->isPointerTy() == range.counter_is_pointer
                 ? *found + sum.offset
                 : found;
    }
  }
  for (const Use &operand : user->operands())
    if (!found)
      found = index_in(*operand, range, tree, layout, depth - 1);
  return found;
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

const Value *Loops::counter_of(const Loop &loop) const {
  const std::optional<Range> range = range_of(loop, tree_);
  return range ? range->counter : nullptr;
}

std::optional<std::pair<std::int64_t, std::int64_t>>
Loops::numbers_of(const Loop &loop, function_ref<const Value *(const Value *)> known) const {
  const std::optional<Range> range = range_of(loop, tree_);
  const std::optional<Sum> last = range ? range->last() : std::nullopt;
  if (!last || range->first.base != nullptr)
    return std::nullopt;
  const auto *more = last->base == nullptr ? nullptr : dyn_cast<ConstantInt>(known(last->base));
  if (last->base != nullptr && more == nullptr)
    return std::nullopt;
  const std::int64_t end = last->offset + (more == nullptr ? 0 : more->getSExtValue());
  if ((range->step.size > 0) != (end >= range->first.offset) && end != range->first.offset)
    return std::nullopt; // no round at all
  return std::minmax(range->first.offset, end);
}

bool Loops::run_alike(const Instruction &a, const Instruction &b) const {
  const std::optional<Range> one = range_of(*around(a), tree_);
  const std::optional<Range> other = range_of(*around(b), tree_);
  if (!one || !other)
    return true;
  const DataLayout &layout = a.getModule()->getDataLayout();
  const auto index = [&](const Instruction &at, const Range &range) {
    std::optional<std::int64_t> found;
    for (const Use &operand : at.operands())
      if (!found)
        found = index_in(*operand, range, tree_, layout);
    return found.value_or(0);
  };
  const std::int64_t here = index(a, *one);
  const std::int64_t there = index(b, *other);
  if (one->step.size == other->step.size && one->goes_on == other->goes_on &&
      one->first.plus(here) == other->first.plus(there) &&
      one->bound.plus(here - one->shift) == other->bound.plus(there - other->shift))
    return true;
  const std::optional<Sum> last = one->last();
  const std::optional<Sum> other_last = other->last();
  if (!last || !other_last || std::abs(one->step.size) != std::abs(other->step.size))
    return false;
  const bool reverse = one->step.size != other->step.size;
  return one->first.plus(here) == (reverse ? *other_last : other->first).plus(there) &&
         last->plus(here) == (reverse ? other->first : *other_last).plus(there);
}

} // namespace tandem
