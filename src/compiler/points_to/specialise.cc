// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/points_to/specialise.h"

#include "compiler/points_to/components.h"
#include "compiler/sections/called_function.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <vector>

namespace tandem {

using namespace llvm;

namespace {

// Instructions of a function, and of its own copies of what it calls, beyond which it is not
// specialised; the smaller are tried where that makes the program more than kMostGrowth times as
// large.
constexpr std::size_t kLargest[] = {800, 400, 200, 100, 50};
constexpr std::size_t kMostGrowth = 2;

Function *direct_callee(const Instruction &instruction) {
  const auto *call = dyn_cast<CallBase>(&instruction);
  if (call == nullptr || call->isInlineAsm())
    return nullptr;
  auto *callee = const_cast<Function *>(called_function(*call)); // NOLINT: the copy is ours
  return callee == nullptr || callee->isDeclaration() ? nullptr : callee;
}

} // namespace

SpecialisedProgram::SpecialisedProgram(const Module &program)
    : module_(CloneModule(program, map_)) {
  StripDebugInfo(*module_);
  for (const auto &global : program.globals())
    origins_[map_.lookup(&global)] = &global;
  for (const Function &function : program)
    if (auto *copy = dyn_cast<Function>(map_.lookup(&function)))
      remember(function, *copy);
  for (const std::size_t largest : kLargest) {
    const Sizes small = sizes(largest);
    std::size_t grown = 0;
    for (const Function &function : *module_)
      if (!small.contains(&function))
        for (const Instruction &instruction : instructions(function))
          if (const Function *callee = direct_callee(instruction))
            grown += small.lookup(callee);
    if (grown > kMostGrowth * module_->getInstructionCount())
      continue;
    specialise(small);
    break;
  }
  for (Function &copy : *module_)
    if (const auto *origin = dyn_cast_or_null<Function>(origins_.lookup(&copy)))
      instances_[origin].push_back(&copy);
}

// Function by function: the copy's instructions are in the program's order.
void SpecialisedProgram::remember(const Function &program, const Function &copy) {
  origins_[&copy] = &program;
  for (const auto &[from, to] : zip(program.args(), copy.args()))
    origins_[&to] = &from;
  auto to = inst_begin(copy);
  for (const Instruction &from : instructions(program))
    if (!isa<DbgInfoIntrinsic>(from))
      origins_[&*to++] = &from;
}

// The functions of at most `largest` instructions that do not call themselves, and how many they
// are together with copies of such functions that they call.
SpecialisedProgram::Sizes SpecialisedProgram::sizes(std::size_t largest) const {
  Sizes found;
  DenseMap<const CallBase *, const Function *> callees;
  for (const Function &function : *module_)
    for (const Instruction &instruction : instructions(function))
      if (const Function *callee = direct_callee(instruction))
        callees[cast<CallBase>(&instruction)] = callee;
  const auto groups = components(*module_, [&](const CallBase &call) {
    const auto known = callees.find(&call);
    return known == callees.end() ? ArrayRef<const Function *>() : ArrayRef(known->second);
  });
  for (const auto &group : groups) {
    const Function *function = group.front();
    std::size_t size = function->getInstructionCount();
    bool calls_itself = group.size() > 1;
    for (const Instruction &instruction : instructions(*function))
      if (const Function *callee = direct_callee(instruction)) {
        calls_itself |= callee == function;
        size += found.lookup(callee);
      }
    if (!calls_itself && size <= largest)
      found[function] = size;
  }
  return found;
}

void SpecialisedProgram::specialise(const Sizes &small) {
  std::vector<Function *> large;
  for (Function &function : *module_)
    if (!function.isDeclaration() && !small.contains(&function))
      large.push_back(&function);
  for (Function *function : large)
    specialise_calls(*function, small);
}

void SpecialisedProgram::specialise_calls(Function &function, const Sizes &small) {
  std::vector<Function *> work{&function};
  while (!work.empty()) {
    Function &caller = *work.back();
    work.pop_back();
    for (Instruction &instruction : instructions(caller)) {
      Function *callee = direct_callee(instruction);
      if (callee == nullptr || !small.contains(callee))
        continue;
      ValueToValueMapTy map;
      Function *copy = CloneFunction(callee, map);
      copy->setLinkage(GlobalValue::InternalLinkage);
      origins_[copy] = origins_.lookup(callee);
      for (const auto &[from, to] : zip(callee->args(), copy->args()))
        origins_[&to] = origins_.lookup(&from);
      for (const auto &[from, to] : zip(instructions(*callee), instructions(*copy)))
        origins_[&to] = origins_.lookup(&from);
      cast<CallBase>(instruction).setCalledOperand(copy);
      work.push_back(copy);
    }
  }
}

ArrayRef<Function *> SpecialisedProgram::instances(const Function &function) const {
  const auto known = instances_.find(&function);
  return known == instances_.end() ? ArrayRef<Function *>() : ArrayRef(known->second);
}

} // namespace tandem
