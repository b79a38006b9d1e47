// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/flags.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

namespace tandem {
namespace {

using namespace llvm;

// A function whose regions depend on more flags than this is not followed further: the work grows
// with three to the power of their number.
constexpr unsigned kMaxFlags = 8;

// Blocks that are looked back at for what was known before an acquisition.
constexpr unsigned kMaxBlocksBack = 32;

// Whether `slot` is only loaded and stored as a whole.
bool is_flag(const AllocaInst &slot) {
  if (!slot.getAllocatedType()->isIntegerTy() && !slot.getAllocatedType()->isPointerTy())
    return false;
  for (const User *user : slot.users()) {
    if (const auto *load = dyn_cast<LoadInst>(user)) {
      if (load->getType() != slot.getAllocatedType())
        return false;
      continue;
    }
    const auto *store = dyn_cast<StoreInst>(user);
    if (store != nullptr && store->getValueOperand()->getType() != slot.getAllocatedType())
      return false;
    const auto *intrinsic = dyn_cast<IntrinsicInst>(user);
    if (store != nullptr ? store->getPointerOperand() != &slot
                         : intrinsic == nullptr || !intrinsic->isLifetimeStartOrEnd())
      return false;
  }
  return true;
}

// Whether a value is 0 or 1: what its lowest bit tells is all of it.
bool is_truth(const Value *value, unsigned depth = 0) {
  if (const auto *constant = dyn_cast<ConstantInt>(value))
    return constant->isZero() || constant->isOne();
  if (value->getType()->isIntegerTy(1))
    return true;
  if (const auto *extended = dyn_cast<ZExtInst>(value))
    return is_truth(extended->getOperand(0), depth);
  const auto *load = dyn_cast<LoadInst>(value);
  const auto *slot = load == nullptr ? nullptr : dyn_cast<AllocaInst>(load->getPointerOperand());
  return slot != nullptr && depth < 2 && is_flag(*slot) &&
         all_of(
             slot->users(),
             [&](const User *user) {
               const auto *store = dyn_cast<StoreInst>(user);
               return store == nullptr || is_truth(store->getValueOperand(), depth + 1);
             });
}

// Whether a cast's result is nonzero exactly where its operand is.
bool keeps_truth(const CastInst &cast) {
  return isa<ZExtInst, SExtInst>(cast) || (isa<TruncInst>(cast) && is_truth(cast.getOperand(0)));
}

// Whether a lock operation runs in `block`, or in one that follows it and no other.
bool leads_to_operation(const BasicBlock &block, const LockCalls &calls, unsigned depth = 0) {
  if (any_of(block, [&](const Instruction &inner) { return calls.at(inner) != nullptr; }))
    return true;
  return depth < 2 && any_of(
                          successors(&block),
                          [&](const BasicBlock *next) {
                            return next->getSinglePredecessor() == &block &&
                                   leads_to_operation(*next, calls, depth + 1);
                          });
}

// The compiler's: where to go on after a clean-up.
bool is_compilers(const AllocaInst &slot) {
  return slot.getName().starts_with("cleanup.dest") ||
         (!slot.user_empty() && all_of(slot.users(), [](const User *user) {
           const auto *store = dyn_cast<StoreInst>(user);
           return store != nullptr
                      ? isa<ConstantInt>(store->getValueOperand())
                      : isa<LoadInst>(user) &&
                            all_of(user->users(), [](auto *use) { return isa<SwitchInst>(use); });
         }));
}

Flags::Value value_of(const Value *stored) {
  if (isa<ConstantPointerNull>(stored))
    return {Flags::Value::Kind::constant, 0};
  if (const auto *constant = dyn_cast<ConstantInt>(stored);
      constant && constant->getBitWidth() <= 64)
    return {Flags::Value::Kind::constant, constant->getSExtValue()};
  if (isa<GlobalObject>(stored->stripPointerCasts()))
    return {Flags::Value::Kind::nonzero, 0};
  return {};
}

// Whether `branch` leads to a lock operation on one side and not, as soon, on another.
bool guards_operation(const BasicBlock &block, const LockCalls &calls) {
  return any_of(successors(&block),
                [&](const BasicBlock *next) { return leads_to_operation(*next, calls); });
}

} // namespace

Flags::Flags(const Function &function, const LockCalls *calls) {
  for (const Instruction &instruction : function.getEntryBlock())
    if (const auto *slot = dyn_cast<AllocaInst>(&instruction); slot != nullptr && is_flag(*slot))
      flags_[slot] = count_++;
  keep_deciding(function, calls);
}

void Flags::keep_deciding(const Function &function, const LockCalls *calls) {
  std::vector<bool> decides(count_);
  for (const BasicBlock &block : function) {
    const auto *branch = dyn_cast<BranchInst>(block.getTerminator());
    if (calls == nullptr || branch == nullptr || branch->isUnconditional())
      continue;
    if (const std::optional<Test> test = test_of(branch->getCondition(), *branch))
      decides[test->flag] = decides[test->flag] || guards_operation(block, *calls);
  }
  DenseMap<const llvm::Value *, unsigned> kept;
  for (const bool compilers : {true, false})
    for (const Instruction &instruction : function.getEntryBlock())
      if (const std::optional<unsigned> flag = flag_of(&instruction);
          flag && kept.size() < kMaxFlags &&
          (is_compilers(cast<AllocaInst>(instruction)) ? compilers : !compilers && decides[*flag]))
        kept.try_emplace(&instruction, static_cast<unsigned>(kept.size()));
  flags_ = std::move(kept);
  count_ = flags_.size();
}

std::optional<unsigned> Flags::flag_of(const llvm::Value *address) const {
  const auto found = flags_.find(address);
  return found == flags_.end() ? std::nullopt : std::optional(found->second);
}

void Flags::apply(const Instruction &instruction, Values &values) const {
  if (const auto *store = dyn_cast<StoreInst>(&instruction))
    if (const std::optional<unsigned> flag = flag_of(store->getPointerOperand()))
      values[*flag] = value_of(store->getValueOperand());
}

std::optional<unsigned> Flags::loaded_flag(const llvm::Value *value, const Instruction &at) const {
  const auto *load = dyn_cast<LoadInst>(value);
  const std::optional<unsigned> flag =
      load == nullptr ? std::nullopt : flag_of(load->getPointerOperand());
  if (!flag || load->getParent() != at.getParent())
    return std::nullopt;
  for (const Instruction *next = load; next != &at; next = next->getNextNode())
    if (const auto *store = dyn_cast<StoreInst>(next);
        store != nullptr && store->getPointerOperand() == load->getPointerOperand())
      return std::nullopt;
  return flag;
}

std::optional<Flags::Test> Flags::test_of(const llvm::Value *condition,
                                          const Instruction &at) const {
  bool nonzero = true; // the condition holds if and only if `condition` is nonzero, or is zero
  for (unsigned depth = 0; depth < 8; ++depth) {
    llvm::Value *operand = nullptr;
    if (condition->getType()->isIntegerTy(1) &&
        match(condition, PatternMatch::m_Not(PatternMatch::m_Value(operand)))) {
      nonzero = !nonzero;
      condition = operand;
    } else if (const auto *compare = dyn_cast<ICmpInst>(condition)) {
      const Value right = value_of(compare->getOperand(1));
      if (!compare->isEquality() || right.kind != Value::Kind::constant)
        return std::nullopt;
      const bool equal = compare->getPredicate() == ICmpInst::ICMP_EQ;
      if (right.constant != 0) {
        const std::optional<unsigned> flag = loaded_flag(compare->getOperand(0), at);
        return flag ? std::optional(Test{*flag, right.constant, equal == nonzero}) : std::nullopt;
      }
      nonzero = nonzero != equal;
      condition = compare->getOperand(0);
    } else if (const auto *cast = dyn_cast<CastInst>(condition);
               cast != nullptr && keeps_truth(*cast)) {
      condition = cast->getOperand(0);
    } else if (const auto *expect = dyn_cast<IntrinsicInst>(condition);
               expect != nullptr && expect->getIntrinsicID() == Intrinsic::expect) {
      condition = expect->getArgOperand(0);
    } else {
      break;
    }
  }
  const std::optional<unsigned> flag = loaded_flag(condition, at);
  return flag ? std::optional(Test{*flag, 0, !nonzero}) : std::nullopt;
}

std::optional<Flags::Values> Flags::refine(Values values, unsigned flag, std::int64_t constant,
                                           bool equal) {
  Value &value = values[flag];
  switch (value.kind) {
  case Value::Kind::constant:
    if ((value.constant == constant) != equal)
      return std::nullopt;
    return values;
  case Value::Kind::nonzero:
    if (equal && constant == 0)
      return std::nullopt;
    break;
  case Value::Kind::unknown:
    break;
  }
  if (equal)
    value = {Value::Kind::constant, constant};
  else if (constant == 0)
    value = {Value::Kind::nonzero, 0};
  return values;
}

std::optional<Flags::Values> Flags::follow(const Instruction &branch, unsigned number,
                                           const Values &values) const {
  if (const auto *choice = dyn_cast<SwitchInst>(&branch)) {
    const std::optional<unsigned> flag = loaded_flag(choice->getCondition(), branch);
    if (!flag || choice->getCondition()->getType()->getIntegerBitWidth() > 64)
      return values;
    if (number > 0)
      return refine(values, *flag,
                    std::next(choice->case_begin(), number - 1)->getCaseValue()->getSExtValue(),
                    true);
    if (values[*flag].kind == Value::Kind::constant &&
        any_of(choice->cases(), [&](const auto &one) {
          return one.getCaseValue()->getSExtValue() == values[*flag].constant;
        }))
      return std::nullopt;
    return values;
  }
  const auto *conditional = dyn_cast<BranchInst>(&branch);
  if (conditional == nullptr || conditional->isUnconditional())
    return values;
  const std::optional<Test> test = test_of(conditional->getCondition(), branch);
  if (!test)
    return values;
  return refine(values, test->flag, test->constant, (number == 0) == test->equal_if_true);
}

Flags::Values Flags::before(const Instruction &instruction) const {
  // The blocks that lead here and nowhere else in between, the first one first.
  std::vector<const BasicBlock *> path{instruction.getParent()};
  while (path.size() < kMaxBlocksBack) {
    const BasicBlock *previous = path.back()->getSinglePredecessor();
    if (previous == nullptr || is_contained(path, previous))
      break;
    path.push_back(previous);
  }
  Values values(count_);
  for (std::size_t i = path.size(); i-- > 0;) {
    for (const Instruction &inner : *path[i]) {
      if (&inner == &instruction)
        return values;
      apply(inner, values);
    }
    const Instruction *branch = path[i]->getTerminator();
    for (unsigned number = 0; i > 0 && number < branch->getNumSuccessors(); ++number)
      if (branch->getSuccessor(number) == path[i - 1])
        values = follow(*branch, number, values).value_or(values);
  }
  return values;
}

} // namespace tandem
