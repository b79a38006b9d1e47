// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/comparisons.h"

#include "compiler/findings/place.h"
#include "compiler/sections/called_function.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

#include <set>

namespace tandem {
namespace {

using namespace llvm;

// Longer computations, and functions that call each other more often, decide nothing.
constexpr unsigned kMaxDepth = 12;
constexpr unsigned kMaxCalls = 6;
constexpr StringRef kComparators[] = {"strcmp",  "strncmp", "strcasecmp", "strncasecmp",
                                      "strcoll", "memcmp",  "wcscmp",     "wmemcmp"};

// The parameters of its function that a value is computed from, through local variables.
void add_parameters(const Value *value, std::set<unsigned> &parameters,
                    SmallPtrSetImpl<const Value *> &seen, unsigned depth = kMaxDepth) {
  if (const auto *argument = dyn_cast<Argument>(value))
    parameters.insert(argument->getArgNo());
  const auto *instruction = dyn_cast<Instruction>(value);
  if (instruction == nullptr || depth == 0 || !seen.insert(value).second)
    return;
  if (isa<AllocaInst>(instruction)) {
    for (const User *user : instruction->users())
      if (const auto *store = dyn_cast<StoreInst>(user);
          store != nullptr && store->getPointerOperand() == instruction)
        add_parameters(store->getValueOperand(), parameters, seen, depth - 1);
    return;
  }
  for (const Use &operand : instruction->operands())
    add_parameters(operand.get(), parameters, seen, depth - 1);
}

std::set<unsigned> parameters_of(const Value &value) {
  std::set<unsigned> parameters;
  SmallPtrSet<const Value *, 16> seen;
  add_parameters(&value, parameters, seen);
  return parameters;
}

// What a value is, where it is converted or was put into a variable of its own.
const Value *source_of(const Value *value) {
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    const auto *load = dyn_cast<LoadInst>(value);
    const StoreInst *store = load != nullptr && isa<AllocaInst>(load->getPointerOperand())
                                 ? only_store(*load->getPointerOperand())
                                 : nullptr;
    if (store != nullptr)
      value = store->getValueOperand();
    else if (const auto *cast = dyn_cast<CastInst>(value))
      value = cast->getOperand(0);
    else
      break;
  }
  return value;
}

// Whether a number is asked to be less or greater than another, or is what its function answers.
bool is_ordered(const Instruction &number) {
  return any_of(instructions(*number.getFunction()), [&](const Instruction &instruction) {
    const auto *compare = dyn_cast<ICmpInst>(&instruction);
    return ((compare != nullptr && !compare->isEquality()) || isa<ReturnInst>(instruction)) &&
           any_of(instruction.operands(),
                  [&](const Use &operand) { return source_of(operand.get()) == &number; });
  });
}

using Pairs = std::vector<std::pair<const Value *, const Value *>>;

Pairs compared(const Instruction &instruction, unsigned calls);

// Whether a function changes nothing and answers: with a truth value, a number or one of the two.
bool only_answers(const Function &function) {
  return !function.isDeclaration() && !function.getReturnType()->isVoidTy() &&
         none_of(instructions(function), [](const Instruction &instruction) {
           const auto *store = dyn_cast<StoreInst>(&instruction);
           return (store != nullptr &&
                   !isa<AllocaInst>(store->getPointerOperand()->stripInBoundsOffsets())) ||
                  instruction.isAtomic() || isa<InvokeInst>(instruction);
         });
}

// The pairs of parameters that a function compares.
std::set<std::pair<unsigned, unsigned>> compared_parameters(const Function &function,
                                                            unsigned calls) {
  std::set<std::pair<unsigned, unsigned>> pairs;
  for (const Instruction &instruction : instructions(function))
    for (const auto &[left, right] : compared(instruction, calls))
      for (const unsigned one : parameters_of(*left))
        for (const unsigned other : parameters_of(*right))
          if (one != other)
            pairs.insert(std::minmax(one, other));
  return pairs;
}

Pairs compared_by_call(const CallBase &call, unsigned calls) {
  const Function *callee = called_function(call);
  // A number may also be asked to be equal to another; a truth value is the answer.
  constexpr unsigned kWidthOfTruth = 8;
  if (callee == nullptr || calls == 0 ||
      (call.getType()->isIntegerTy() && call.getType()->getIntegerBitWidth() > kWidthOfTruth &&
       !is_ordered(call)))
    return {};
  if (is_contained(kComparators, callee->getName()))
    return {{call.getArgOperand(0), call.getArgOperand(1)}};
  Pairs pairs;
  if (only_answers(*callee))
    for (const auto &[one, other] : compared_parameters(*callee, calls - 1))
      if (other < call.arg_size())
        pairs.emplace_back(call.getArgOperand(one), call.getArgOperand(other));
  return pairs;
}

Pairs compared(const Instruction &instruction, unsigned calls) {
  if (const auto *call = dyn_cast<CallBase>(&instruction))
    return compared_by_call(*call, calls);
  const auto *compare = dyn_cast<ICmpInst>(&instruction);
  const bool decides = compare != nullptr
                           ? !compare->isEquality()
                           : instruction.getOpcode() == Instruction::Sub && is_ordered(instruction);
  if (!decides)
    return {};
  return {{instruction.getOperand(0), instruction.getOperand(1)}};
}

} // namespace

std::vector<std::pair<const Value *, const Value *>>
compared_values(const Instruction &instruction) {
  return compared(instruction, kMaxCalls);
}

} // namespace tandem
