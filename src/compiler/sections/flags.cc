// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/flags.h"

#include "compiler/sections/origin.h"

#include "llvm/IR/CFG.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

namespace tandem {
namespace {

using namespace llvm;

// A function whose regions depend on more flags than this is not followed further: the work grows
// with three to the power of their number.
constexpr unsigned kMaxFlags = 8;

// Branches that decide about lock operations, of which each is compared with each.
constexpr std::size_t kMostConditions = 64;

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

// Whether control flow chooses the value among some that are known: `c ? 1 : 0`, `a && b`.
bool is_choice(const PHINode &phi) {
  return phi.getType()->isIntegerTy() && phi.getType()->getIntegerBitWidth() <= 64 &&
         any_of(phi.incoming_values(), [](const Use &value) { return isa<ConstantInt>(value); });
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
bool is_compilers(const Instruction &slot) {
  if (const auto *phi = dyn_cast<PHINode>(&slot))
    return all_of(phi->incoming_values(), [](const Use &value) { return isa<Constant>(value); });
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

// The addresses that `value` is computed from, but for variables that hold one value only.
void find_reads(const Value *value, std::vector<const Value *> &reads, unsigned depth = 0) {
  const auto *instruction = dyn_cast<Instruction>(value);
  if (instruction == nullptr || depth > 8)
    return;
  if (const auto *load = dyn_cast<LoadInst>(instruction)) {
    SmallPtrSet<const Value *, 4> found;
    sources(load, found);
    if (found.size() == 1 && *found.begin() != load) {
      find_reads(*found.begin(), reads, depth + 1);
      return;
    }
    reads.push_back(load->getPointerOperand());
    find_reads(load->getPointerOperand(), reads, depth + 1);
    return;
  }
  for (const Use &operand : instruction->operands())
    find_reads(operand.get(), reads, depth + 1);
}

// Whether two conditions are one, or, with `opposite`, one and its negation.
bool same_condition(const Value &a, const Value &b, bool opposite) {
  if (!opposite)
    return same_value(a, b);
  const auto *left = dyn_cast<CmpInst>(&a);
  const auto *right = dyn_cast<CmpInst>(&b);
  return left != nullptr && right != nullptr &&
         left->getPredicate() == right->getInversePredicate() &&
         same_value(*left->getOperand(0), *right->getOperand(0)) &&
         same_value(*left->getOperand(1), *right->getOperand(1));
}

} // namespace

Flags::Flags(const Function &function, const LockCalls *calls) {
  for (const Instruction &instruction : function.getEntryBlock())
    if (const auto *slot = dyn_cast<AllocaInst>(&instruction); slot != nullptr && is_flag(*slot))
      flags_[slot] = count_++;
  for (const BasicBlock &block : function)
    for (const PHINode &phi : block.phis())
      if (is_choice(phi))
        flags_[&phi] = count_++;
  keep_deciding(function, calls);
  if (calls != nullptr)
    find_conditions(function, *calls);
}

void Flags::find_conditions(const Function &function, const LockCalls &calls) {
  std::vector<const BranchInst *> branches;
  for (const BasicBlock &block : function)
    if (const auto *branch = dyn_cast<BranchInst>(block.getTerminator());
        branch != nullptr && branch->isConditional() && !test_of(branch->getCondition(), *branch) &&
        guards_operation(block, calls))
      branches.push_back(branch);
  if (branches.size() > kMostConditions)
    return;
  for (std::size_t i = 0; i < branches.size() && count_ < kMaxFlags; ++i) {
    if (asks_.contains(branches[i]))
      continue;
    const llvm::Value &value = *branches[i]->getCondition();
    Condition condition{&value, count_, {}};
    const auto number = static_cast<unsigned>(conditions_.size());
    for (std::size_t j = i + 1; j < branches.size(); ++j)
      for (const bool opposite : {false, true})
        if (same_condition(value, *branches[j]->getCondition(), opposite))
          asks_.try_emplace(branches[j], number, opposite);
    if (none_of(asks_, [&](const auto &asked) { return asked.second.first == number; }))
      continue;
    asks_.try_emplace(branches[i], number, false);
    find_reads(&value, condition.reads);
    conditions_.push_back(std::move(condition));
    ++count_;
  }
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
  for (const bool compilers : {true, false}) {
    const auto keep = [&](const Instruction &instruction) {
      if (const std::optional<unsigned> flag = flag_of(&instruction);
          flag && kept.size() < kMaxFlags &&
          (is_compilers(instruction) ? compilers : !compilers && decides[*flag]))
        kept.try_emplace(&instruction, static_cast<unsigned>(kept.size()));
    };
    for (const Instruction &instruction : function.getEntryBlock())
      if (isa<AllocaInst>(instruction))
        keep(instruction);
    for (const BasicBlock &block : function)
      for (const PHINode &phi : block.phis())
        keep(phi);
  }
  for (const auto &[flag, number] : kept)
    if (const auto *phi = dyn_cast<PHINode>(flag))
      choices_[phi->getParent()].emplace_back(phi, number);
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
  if (conditions_.empty())
    return;
  if (const auto *store = dyn_cast<StoreInst>(&instruction))
    for (const Condition &condition : conditions_)
      if (any_of(condition.reads, [&](const llvm::Value *address) {
            return same_value(*address, *store->getPointerOperand());
          }))
        values[condition.flag] = {};
}

std::optional<unsigned> Flags::loaded_flag(const llvm::Value *value, const Instruction &at) const {
  if (const auto *phi = dyn_cast<PHINode>(value))
    return phi->getParent() == at.getParent() ? flag_of(phi) : std::nullopt;
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
  std::optional<Values> there = decide(branch, number, values);
  const auto chosen = choices_.find(branch.getSuccessor(number));
  if (!there || chosen == choices_.end())
    return there;
  const Values before = *there;
  for (const auto &[phi, flag] : chosen->second) {
    const llvm::Value *value = phi->getIncomingValueForBlock(branch.getParent());
    const auto known = flags_.find(value); // another choice; a variable's address is none
    (*there)[flag] =
        known != flags_.end() && isa<PHINode>(value) ? before[known->second] : value_of(value);
  }
  return there;
}

std::optional<Flags::Values> Flags::decide(const Instruction &branch, unsigned number,
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
  if (const auto asked = asks_.find(&branch); asked != asks_.end())
    return refine(values, conditions_[asked->second.first].flag, 0,
                  (number == 0) == asked->second.second);
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
