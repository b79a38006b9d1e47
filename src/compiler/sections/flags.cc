// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/flags.h"

#include "compiler/sections/condition_reads.h"
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
           if (const auto *store = dyn_cast<StoreInst>(user))
             return isa<ConstantInt>(store->getValueOperand());
           // What is put into a caller says how long its variables live.
           const auto *intrinsic = dyn_cast<IntrinsicInst>(user);
           return (intrinsic != nullptr && intrinsic->isLifetimeStartOrEnd()) ||
                  (isa<LoadInst>(user) &&
                   all_of(user->users(), [](auto *use) { return isa<SwitchInst>(use); }));
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

Flags::Flags(const Function &function, const LockCalls *calls, Changes *changes) {
  for (const Instruction &instruction : function.getEntryBlock())
    if (const auto *slot = dyn_cast<AllocaInst>(&instruction); slot != nullptr && is_flag(*slot))
      flags_[slot] = count_++;
  for (const BasicBlock &block : function)
    for (const PHINode &phi : block.phis())
      if (is_choice(phi))
        flags_[&phi] = count_++;
  keep_deciding(function, calls);
  if (calls != nullptr)
    find_conditions(function, *calls, changes);
}

// The flag that a branch tests; null: none. `passes_on`: it only passes on what was computed
// before, as a parameter of a function that was put into this one does.
const llvm::Value *Flags::tested(const BranchInst &branch, bool &passes_on) const {
  const std::optional<Test> test = test_of(branch.getCondition(), branch);
  if (!test)
    return nullptr;
  const auto found = find_if(flags_, [&](const auto &flag) { return flag.second == test->flag; });
  const auto *slot = found == flags_.end() ? nullptr : dyn_cast<AllocaInst>(found->first);
  const StoreInst *store = slot == nullptr ? nullptr : only_store(*slot);
  passes_on = store != nullptr && !isa<Constant>(store->getValueOperand());
  return slot;
}

void Flags::find_conditions(const Function &function, const LockCalls &calls, Changes *changes) {
  std::vector<const BranchInst *> branches;
  DenseMap<const BranchInst *, const llvm::Value *> flags;
  for (const BasicBlock &block : function)
    if (const auto *branch = dyn_cast<BranchInst>(block.getTerminator());
        branch != nullptr && branch->isConditional() && guards_operation(block, calls)) {
      bool passes_on = false;
      flags[branch] = tested(*branch, passes_on);
      if (passes_on || !test_of(branch->getCondition(), *branch))
        branches.push_back(branch);
    }
  if (branches.size() > kMostConditions)
    return;
  for (std::size_t i = 0; i < branches.size() && count_ < kMaxFlags; ++i) {
    if (asks_.contains(branches[i]))
      continue;
    const llvm::Value &value = *branches[i]->getCondition();
    Condition condition{&value, count_, {}};
    Branches others;
    for (std::size_t j = i + 1; j < branches.size(); ++j)
      for (const bool opposite : {false, true})
        if (!asks_.contains(branches[j]) &&
            (flags[branches[i]] == nullptr || flags[branches[i]] != flags[branches[j]]) &&
            same_condition(value, *branches[j]->getCondition(), opposite)) {
          others.emplace_back(branches[j], opposite);
          break;
        }
    if (others.empty() || !keep_condition(*branches[i], others, calls, condition, changes))
      continue;
    const auto number = static_cast<unsigned>(conditions_.size());
    asks_.try_emplace(branches[i], number, false);
    for (const auto &[branch, opposite] : others)
      asks_.try_emplace(branch, number, opposite);
    conditions_.push_back(std::move(condition));
    ++count_;
  }
  for (unsigned number = 0; number < conditions_.size(); ++number)
    for (const BasicBlock &block : function)
      for (const Instruction &instruction : block)
        if (any_of(conditions_[number].reads, [&](const LoadInst *read) {
              return writes(instruction, *read, calls, changes);
            }))
          changes_[&instruction].push_back(number);
}

// Finds what the condition reads, and leaves of `others` those that ask for the same; false where
// none is left.
bool Flags::keep_condition(const BranchInst &first, Branches &others, const LockCalls &calls,
                           Condition &condition, Changes *changes) {
  Loads all;
  std::erase_if(others, [&](const auto &other) {
    Loads here;
    Loads there;
    // The opposite has another predicate, and the operands in the same order.
    if (!find_reads(first.getCondition(), other.first->getCondition(), here, there))
      return changes != nullptr;
    if (changes != nullptr)
      for (const auto &[branch, reads] : {std::pair(&first, &here), std::pair(other.first, &there)})
        for (const LoadInst *read : *reads) {
          const Instruction *beside =
              is_private(*read->getPointerOperand()) ? nullptr : changes->written_beside(*read);
          const Instruction *by =
              beside == nullptr ? written_before(*branch, *read, calls, changes) : beside;
          if (by == nullptr)
            continue;
          if (refused_.empty())
            refused_ = doubt_of(*read, *by, beside != nullptr);
          return true;
        }
    all.insert(here.begin(), here.end());
    all.insert(there.begin(), there.end());
    return false;
  });
  condition.reads.assign(all.begin(), all.end());
  return !others.empty();
}

std::string Flags::doubt(ArrayRef<const Instruction *> body) const {
  if (!refused_.empty())
    return refused_;
  for (const Instruction *instruction : body)
    if (const auto found = changes_.find(instruction); found != changes_.end())
      for (const unsigned number : found->second)
        if (!conditions_[number].reads.empty())
          return doubt_of(*conditions_[number].reads.front(), *instruction, false);
  return "";
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
  if (const auto found = changes_.find(&instruction); found != changes_.end())
    for (const unsigned number : found->second)
      values[conditions_[number].flag] = {};
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
  std::optional<Values> there = values;
  if (const auto asked = asks_.find(&branch); asked != asks_.end())
    there = refine(std::move(*there), conditions_[asked->second.first].flag, 0,
                   (number == 0) == asked->second.second);
  const std::optional<Test> test = test_of(conditional->getCondition(), branch);
  if (!there || !test)
    return there;
  return refine(std::move(*there), test->flag, test->constant,
                (number == 0) == test->equal_if_true);
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
