// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/trylock.h"

#include "compiler/sections/called_function.h"
#include "compiler/sections/condition_reads.h"
#include "compiler/sections/flags.h"
#include "compiler/sections/origin.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

#include <cstdint>
#include <set>
#include <tuple>

namespace tandem {
namespace {

using namespace llvm;

// Conditions are short; a deeper one asks more than one thing.
constexpr unsigned kMaxDepth = 10;

std::optional<Acquired> opposite(std::optional<Acquired> result) {
  if (result == Acquired::zero)
    return Acquired::nonzero;
  if (result == Acquired::nonzero)
    return Acquired::zero;
  return std::nullopt;
}

class Meaning {
public:
  // The result that success has as a constant. `result > 0` asks for it too, so not a negative one.
  static std::optional<Acquired> of_constant(const ConstantInt &success) {
    if (success.isZero())
      return Acquired::zero;
    return success.isNegative() && success.getBitWidth() > 1 ? std::nullopt
                                                             : std::optional(Acquired::nonzero);
  }

  // `calls` may be null: then no guards are known.
  Meaning(const LockSite &entry, const LockCalls *calls) : entry_(entry), calls_(calls) {}

  // Which value of `value` means that the trylock acquired.
  std::optional<Acquired> of(const Value *value, unsigned depth = 0) const {
    if (value == entry_.call)
      return entry_.acquired == Acquired::always ? std::nullopt : std::optional(entry_.acquired);
    if (depth > kMaxDepth)
      return std::nullopt;
    if (const auto *compare = dyn_cast<ICmpInst>(value))
      return of_comparison(*compare, depth);
    Value *operand = nullptr;
    if (match(value, PatternMatch::m_Not(PatternMatch::m_Value(operand))))
      return opposite(of(operand, depth + 1));
    if (match(value, PatternMatch::m_Neg(PatternMatch::m_Value(operand))))
      return of_negation(*operand, depth);
    if (const auto *phi = dyn_cast<PHINode>(value))
      return of_choice(*phi, depth);
    if (const auto *select = dyn_cast<SelectInst>(value))
      return of_selection(*select, depth);
    if (isa<SExtInst>(value) && cast<SExtInst>(value)->getSrcTy()->isIntegerTy(1))
      return of_negation(*cast<SExtInst>(value)->getOperand(0), depth);
    if (isa<CastInst>(value) || isa<FreezeInst>(value))
      return of(cast<Instruction>(value)->getOperand(0), depth + 1);
    if (const auto *expect = dyn_cast<IntrinsicInst>(value);
        expect != nullptr && expect->getIntrinsicID() == Intrinsic::expect)
      return of(expect->getArgOperand(0), depth + 1);
    if (const auto *load = dyn_cast<LoadInst>(value))
      return of_variable(*load, depth);
    if (const auto *call = dyn_cast<CallBase>(value))
      return of_test(*call);
    return std::nullopt;
  }

private:
  // As kernels and their like return errors: `return -error`. A negated success would be taken for
  // one by its sign.
  std::optional<Acquired> of_negation(const Value &operand, unsigned depth) const {
    const std::optional<Acquired> result = of(&operand, depth + 1);
    return result == Acquired::zero ? result : std::nullopt;
  }

  // `error ? -error : 0`: the constant says what the other value says where control comes by that
  // side.
  std::optional<Acquired> of_choice(const PHINode &phi, unsigned depth) const {
    if (phi.getNumIncomingValues() != 2)
      return std::nullopt;
    for (const unsigned number : {0U, 1U}) {
      const auto *zero = dyn_cast<ConstantInt>(phi.getIncomingValue(number));
      if (zero != nullptr && zero->isZero() &&
          of(phi.getIncomingValue(1 - number), depth + 1) == Acquired::zero &&
          comes_by_success(*phi.getIncomingBlock(number), depth))
        return Acquired::zero;
    }
    return std::nullopt;
  }

  // `error ? -1 : 0`: one of two constants, of which one is zero.
  std::optional<Acquired> of_selection(const SelectInst &select, unsigned depth) const {
    const std::optional<Acquired> chosen = of(select.getCondition(), depth + 1);
    const auto *yes = dyn_cast<ConstantInt>(select.getTrueValue());
    const auto *no = dyn_cast<ConstantInt>(select.getFalseValue());
    if (!chosen || chosen == Acquired::minus_one || yes == nullptr || no == nullptr ||
        yes->isZero() == no->isZero())
      return std::nullopt;
    return of_constant(chosen == Acquired::nonzero ? *yes : *no);
  }

  bool comes_by_success(const BasicBlock &block, unsigned depth) const {
    const BasicBlock *previous = block.getSinglePredecessor();
    const auto *branch =
        previous == nullptr ? nullptr : dyn_cast<BranchInst>(previous->getTerminator());
    if (branch == nullptr || branch->isUnconditional())
      return false;
    const std::optional<Acquired> result = of(branch->getCondition(), depth + 1);
    return result && branch->getSuccessor(result == Acquired::nonzero ? 0 : 1) == &block &&
           branch->getSuccessor(0) != branch->getSuccessor(1);
  }

  std::optional<Acquired> of_comparison(const ICmpInst &compare, unsigned depth) const {
    const std::optional<Acquired> left = of(compare.getOperand(0), depth + 1);
    const bool equal = compare.getPredicate() == ICmpInst::ICMP_EQ;
    const auto *right = dyn_cast<Constant>(compare.getOperand(1));
    if (!left || right == nullptr)
      return std::nullopt;
    if (!compare.isEquality())
      return right->isNullValue()
                 ? of_sign(*left, compare.getPredicate(), errors_in(*compare.getOperand(0)))
                 : std::nullopt;
    if (right->isNullValue() && left != Acquired::minus_one)
      return equal ? opposite(left) : left;
    if (right->isAllOnesValue() && left == Acquired::minus_one)
      return equal ? Acquired::nonzero : Acquired::zero;
    if (!right->isNullValue() && left == Acquired::zero) // result == EBUSY
      return equal ? Acquired::zero : Acquired::nonzero;
    return std::nullopt;
  }

  // Which numbers say that an acquisition has failed, where zero says that it has not.
  enum class Errors : std::uint8_t { unknown, positive, negative };
  static Errors sign_of(const ConstantInt &error) {
    return error.isNegative() && error.getBitWidth() > 1 ? Errors::negative : Errors::positive;
  }
  static Errors opposite_sign(Errors errors) {
    return errors == Errors::unknown    ? Errors::unknown
           : errors == Errors::negative ? Errors::positive
                                        : Errors::negative;
  }

  Errors errors_in(const Value &value, unsigned depth = 0) const {
    if (const auto *constant = dyn_cast<ConstantInt>(&value))
      return constant->isZero() ? Errors::unknown : sign_of(*constant);
    const auto *instruction = dyn_cast<Instruction>(&value);
    if (instruction == nullptr || depth > kMaxDepth)
      return Errors::unknown;
    Value *operand = nullptr;
    if (match(instruction, PatternMatch::m_Neg(PatternMatch::m_Value(operand))))
      return opposite_sign(errors_in(*operand, depth + 1));
    if (isa<CastInst>(instruction) && instruction->getOperand(0)->getType()->isIntegerTy(1))
      return isa<SExtInst>(instruction) ? Errors::negative : Errors::positive;
    if (isa<ZExtInst>(instruction))
      return Errors::positive;
    if (isa<CastInst>(instruction) || isa<FreezeInst>(instruction))
      return errors_in(*instruction->getOperand(0), depth + 1);
    if (const auto *call = dyn_cast<CallBase>(instruction)) {
      const Function *callee = called_function(*call);
      if (callee != nullptr && callee->getIntrinsicID() == Intrinsic::expect)
        return errors_in(*call->getArgOperand(0), depth + 1);
      return callee == nullptr ? Errors::unknown : errors_of(*callee, depth + 1);
    }
    if (const auto *load = dyn_cast<LoadInst>(instruction)) {
      const auto *slot = dyn_cast<AllocaInst>(load->getPointerOperand());
      const StoreInst *latest = slot == nullptr ? nullptr : latest_store(*load, *slot);
      return latest == nullptr ? Errors::unknown : errors_in(*latest->getValueOperand(), depth + 1);
    }
    // One of several, of which those that are zero say nothing.
    Errors errors = Errors::unknown;
    const unsigned first = isa<SelectInst>(instruction) ? 1 : 0;
    if (!isa<SelectInst, PHINode>(instruction))
      return Errors::unknown;
    for (const Use &use : drop_begin(instruction->operands(), first)) {
      const auto *constant = dyn_cast<ConstantInt>(use.get());
      if (constant != nullptr && constant->isZero())
        continue;
      const Errors of_one = errors_in(*use.get(), depth + 1);
      if (of_one == Errors::unknown || (errors != Errors::unknown && errors != of_one))
        return Errors::unknown;
      errors = of_one;
    }
    return errors;
  }

  // POSIX threads and C11 return positive numbers, semaphores -1; functions of the program what
  // they store for their results.
  Errors errors_of(const Function &function, unsigned depth) const {
    if (function.isDeclaration()) {
      const StringRef name = function.getName();
      return name.starts_with("pthread_") || name.starts_with("mtx_") ? Errors::positive
             : name.starts_with("sem_")                               ? Errors::negative
                                                                      : Errors::unknown;
    }
    Errors errors = Errors::unknown;
    for (const BasicBlock &block : function) {
      const auto *exit = dyn_cast<ReturnInst>(block.getTerminator());
      if (exit == nullptr || exit->getReturnValue() == nullptr)
        continue;
      SmallPtrSet<const Value *, 4> values;
      sources(exit->getReturnValue(), values);
      for (const Value *value : values) {
        const auto *constant = dyn_cast<ConstantInt>(value);
        if (constant != nullptr && constant->isZero())
          continue;
        const Errors of_one = errors_in(*value, depth + 1);
        if (of_one == Errors::unknown || (errors != Errors::unknown && errors != of_one))
          return Errors::unknown;
        errors = of_one;
      }
    }
    return errors;
  }

  // `result < 0`, where errors are negative, and `result > 0`, where they or success are positive.
  static std::optional<Acquired> of_sign(Acquired result, CmpInst::Predicate predicate,
                                         Errors errors) {
    const bool counts =
        result == Acquired::nonzero || (result == Acquired::zero && errors == Errors::positive);
    switch (predicate) {
    case CmpInst::ICMP_SLT:
      return result == Acquired::zero && errors == Errors::negative ? std::optional(result)
                                                                    : std::nullopt;
    case CmpInst::ICMP_SGE:
      return result == Acquired::zero && errors == Errors::negative ? opposite(result)
                                                                    : std::nullopt;
    case CmpInst::ICMP_SGT:
      return counts ? std::optional(result) : std::nullopt;
    case CmpInst::ICMP_SLE:
      return counts ? opposite(result) : std::nullopt;
    case CmpInst::ICMP_UGT:
      return result == Acquired::minus_one ? std::nullopt : std::optional(result);
    case CmpInst::ICMP_ULE:
      return result == Acquired::minus_one ? std::nullopt : opposite(result);
    default:
      return std::nullopt;
    }
  }

  // A variable that holds results of such calls.
  std::optional<Acquired> of_variable(const LoadInst &load, unsigned depth) const {
    const auto *slot = dyn_cast<AllocaInst>(load.getPointerOperand());
    if (slot == nullptr)
      return std::nullopt;
    if (const StoreInst *latest = latest_store(load, *slot))
      return of(latest->getValueOperand(), depth + 1);
    if (entry_.operation == LockOperation::lock) // its result's variable is used for others, too
      return std::nullopt;
    if (!is_flag(*slot)) // it may be written through its address
      return std::nullopt;
    for (const User *user : slot->users())
      if (const auto *store = dyn_cast<StoreInst>(user);
          store != nullptr && store->getPointerOperand() == slot)
        if (const std::optional<Acquired> stored = of(store->getValueOperand(), depth + 1))
          return stored;
    return std::nullopt;
  }

  // What the load reads, if every way to it comes by one store close by, and nothing behind that
  // may write to the variable through its address.
  static const StoreInst *latest_store(const LoadInst &load, const AllocaInst &slot) {
    const bool by_name_only = is_flag(slot);
    const BasicBlock *block = load.getParent();
    const Instruction *at = load.getPrevNode();
    for (unsigned blocks = 0; block != nullptr && blocks < kMaxDepth; ++blocks) {
      for (; at != nullptr; at = at->getPrevNode()) {
        const auto *store = dyn_cast<StoreInst>(at);
        if (store != nullptr && store->getPointerOperand() == &slot)
          return store;
        if (!by_name_only && at->mayWriteToMemory() && !writes_elsewhere(*at))
          return nullptr;
      }
      block = block->getSinglePredecessor();
      at = block == nullptr ? nullptr : &block->back();
    }
    return nullptr;
  }

  static bool writes_elsewhere(const Instruction &instruction) {
    const auto *store = dyn_cast<StoreInst>(&instruction);
    const auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
    return (store != nullptr && isa<AllocaInst>(store->getPointerOperand())) ||
           (intrinsic != nullptr && intrinsic->isLifetimeStartOrEnd());
  }

  std::optional<Acquired> of_test(const CallBase &call) const {
    const Value *guard = calls_ == nullptr ? nullptr : calls_->tested_guard(call);
    if (guard == nullptr)
      return std::nullopt;
    const DataLayout &layout = call.getModule()->getDataLayout();
    if (any_of(entry_.call->args(),
               [&](const Value *argument) { return base_of(argument, layout).first == guard; }))
      return Acquired::nonzero;
    return std::nullopt;
  }

  const LockSite &entry_;
  const LockCalls *calls_;
};

} // namespace

std::optional<Acquired> returned_result(const Function &function, const LockSite &site) {
  std::optional<Acquired> result;
  for (const BasicBlock &block : function) {
    const auto *exit = dyn_cast<ReturnInst>(block.getTerminator());
    if (exit == nullptr)
      continue;
    if (exit->getReturnValue() == nullptr || result)
      return std::nullopt;
    // More than one result that is stored tells the caller something else too.
    const Value *value = exit->getReturnValue();
    SmallPtrSet<const Value *, 4> values;
    sources(value, values);
    if (values.size() != 1)
      return std::nullopt;
    const auto *constant = dyn_cast<ConstantInt>(*values.begin());
    if (constant != nullptr && site.operation == LockOperation::lock) // errors do not come back
      result = Meaning::of_constant(*constant);
    else
      result = Meaning(site, nullptr).of(*values.begin());
    if (!result)
      return std::nullopt;
  }
  return result;
}

namespace {

// The ways through a function whose only operation is a trylock.
class TryLoop {
public:
  TryLoop(const Function &function, const LockSite &site, const LockCalls &calls)
      : site_(site), calls_(calls), flags_(function, &calls) {
    push({&function.getEntryBlock(), Lock::none, flags_.before(function.getEntryBlock().front())});
  }

  bool always_acquires() {
    while (!work_.empty()) {
      State state = std::move(work_.back());
      work_.pop_back();
      if (seen_.size() > kMostStates || !walk(std::move(state)))
        return false;
    }
    return true;
  }

private:
  enum class Lock { none, asked, held };
  struct State {
    const BasicBlock *block;
    Lock lock;
    Flags::Values flags;
    bool operator<(const State &other) const {
      return std::tie(block, lock, flags) < std::tie(other.block, other.lock, other.flags);
    }
  };
  static constexpr std::size_t kMostStates = 1000; // more than a thin wrapper has

  void push(State state) {
    if (seen_.insert(state).second)
      work_.push_back(std::move(state));
  }

  // False where a way returns without the lock or acquires twice, and where that is unknown.
  bool walk(State state) {
    for (const Instruction &instruction : *state.block) {
      if (&instruction == site_.call) {
        if (state.lock != Lock::none)
          return false;
        state.lock = Lock::asked;
      }
      if (isa<ReturnInst>(instruction) && state.lock != Lock::held)
        return false;
      flags_.apply(instruction, state.flags);
    }
    const Instruction &branch = *state.block->getTerminator();
    const BasicBlock *acquired =
        state.lock == Lock::asked ? acquired_side(site_, branch, calls_) : nullptr;
    if (state.lock == Lock::asked && acquired == nullptr && branch.getNumSuccessors() > 1)
      return false;
    for (unsigned number = 0; number < branch.getNumSuccessors(); ++number) {
      State next{branch.getSuccessor(number), state.lock, state.flags};
      if (acquired != nullptr)
        next.lock = next.block == acquired ? Lock::held : Lock::none;
      std::optional<Flags::Values> flags = flags_.follow(branch, number, state.flags);
      if (!flags)
        continue;
      next.flags = std::move(*flags);
      push(std::move(next));
    }
    return true;
  }

  const LockSite &site_;
  const LockCalls &calls_;
  const Flags flags_;
  std::set<State> seen_;
  std::vector<State> work_;
};

} // namespace

bool acquires_in_loop(const Function &function, const LockSite &site, const LockCalls &calls) {
  return site.operation == LockOperation::trylock &&
         TryLoop(function, site, calls).always_acquires();
}

const BasicBlock *acquired_side(const LockSite &entry, const Instruction &terminator,
                                const LockCalls &calls) {
  const auto *branch = dyn_cast<BranchInst>(&terminator);
  // A robust mutex is also held where the result is EOWNERDEAD.
  const bool robust = entry.call->getModule()->getFunction("pthread_mutex_consistent") != nullptr;
  const bool tells = entry.operation == LockOperation::trylock ||
                     (entry.operation == LockOperation::lock && !robust &&
                      entry.call->getType()->isIntegerTy() && entry.acquired != Acquired::always);
  if (!tells || branch == nullptr || branch->isUnconditional())
    return nullptr;
  const std::optional<Acquired> when = Meaning(entry, &calls).of(branch->getCondition());
  if (!when || when == Acquired::minus_one)
    return nullptr;
  return branch->getSuccessor(when == Acquired::nonzero ? 0 : 1);
}

} // namespace tandem
