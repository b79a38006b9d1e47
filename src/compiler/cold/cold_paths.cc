// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/cold/cold_paths.h"

#include "compiler/sections/called_function.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/ProfDataUtils.h"

#include <numeric>
#include <optional>

namespace tandem {
namespace {

using namespace llvm;

// A branch is unlikely where its weight says that less than one run in this many takes it: a
// section that starts again there costs less than 5 % more runs.
constexpr std::uint64_t kUnlikelyRatio = 20;

// The stream that reports of errors go to, or a pointer to it.
bool is_error_stream(const Value *value) {
  value = value->stripPointerCasts();
  if (const auto *load = dyn_cast<LoadInst>(value))
    value = load->getPointerOperand()->stripPointerCasts();
  const auto *global = dyn_cast<GlobalVariable>(value);
  return global != nullptr && (global->getName() == "stderr" || global->getName() == "__stderrp" ||
                               global->getName() == "_ZSt4cerr");
}

// Whether a call of a function outside the program reports an error.
bool reports_error(const CallBase &call, const Function &callee) {
  static const StringSet<> kReports{"perror",
                                    "psignal",
                                    "psiginfo",
                                    "warn",
                                    "warnx",
                                    "vwarn",
                                    "vwarnx",
                                    "error",
                                    "error_at_line",
                                    "herror",
                                    "backtrace_symbols_fd"};
  return kReports.contains(callee.getName()) || any_of(call.args(), [](const Use &argument) {
           return argument->getType()->isPointerTy() && is_error_stream(argument.get());
         });
}

// The constant that `value` is where the source expects it to be what __builtin_expect says.
std::optional<APInt> expected_value(const Value *value) {
  if (const auto *call = dyn_cast<IntrinsicInst>(value)) {
    const bool sure = call->getIntrinsicID() == Intrinsic::expect;
    if (!sure && call->getIntrinsicID() != Intrinsic::expect_with_probability)
      return std::nullopt;
    if (!sure) {
      const auto *probability = dyn_cast<ConstantFP>(call->getArgOperand(2));
      if (probability == nullptr ||
          (1 - probability->getValueAPF().convertToDouble()) * kUnlikelyRatio > 1)
        return std::nullopt;
    }
    const auto *expected = dyn_cast<ConstantInt>(call->getArgOperand(1));
    return expected == nullptr ? std::nullopt : std::optional(expected->getValue());
  }
  if (const auto *cast = dyn_cast<CastInst>(value)) {
    const std::optional<APInt> inner = expected_value(cast->getOperand(0));
    if (!inner || !cast->getType()->isIntegerTy())
      return std::nullopt;
    const unsigned width = cast->getType()->getIntegerBitWidth();
    return isa<SExtInst>(cast) ? inner->sextOrTrunc(width) : inner->zextOrTrunc(width);
  }
  if (const auto *compare = dyn_cast<ICmpInst>(value)) {
    const std::optional<APInt> left = expected_value(compare->getOperand(0));
    const auto *right = dyn_cast<ConstantInt>(compare->getOperand(1));
    if (left && right != nullptr)
      return APInt(1, ICmpInst::compare(*left, right->getValue(), compare->getPredicate()));
  }
  return std::nullopt;
}

} // namespace

bool ColdPaths::is_cold_function(const Function &function) {
  if (function.hasFnAttribute(Attribute::Cold))
    return true;
  return !function.isDeclaration() && doomed(function).contains(&function.getEntryBlock());
}

bool ColdPaths::is_seed(const BasicBlock &block) {
  if (isa<UnreachableInst>(block.getTerminator()) || isa<ResumeInst>(block.getTerminator()))
    return true;
  for (const Instruction &instruction : block) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    if (call == nullptr || isa<IntrinsicInst>(call))
      continue;
    const Function *callee = called_function(*call);
    if (call->hasFnAttr(Attribute::Cold) ||
        (callee != nullptr &&
         (is_cold_function(*callee) || (callee->isDeclaration() && reports_error(*call, *callee)))))
      return true;
  }
  return false;
}

const ColdPaths::Blocks &ColdPaths::doomed(const Function &function) {
  static const Blocks kNone;
  const auto known = doomed_.find(&function);
  if (known != doomed_.end())
    return known->second;
  if (!active_.insert(&function).second)
    return kNone; // what the other calls do decides
  Blocks found;
  SmallVector<const BasicBlock *, 16> work;
  for (const BasicBlock &block : function)
    if (is_seed(block)) {
      found.insert(&block);
      work.push_back(&block);
    }
  while (!work.empty()) {
    const BasicBlock *block = work.pop_back_val();
    for (const BasicBlock *before : predecessors(block))
      if (!found.contains(before) && all_of(successors(before), [&](const BasicBlock *next) {
            return found.contains(next);
          })) {
        found.insert(before);
        work.push_back(before);
      }
  }
  active_.erase(&function);
  return doomed_[&function] = std::move(found);
}

bool ColdPaths::is_unlikely(const BasicBlock &from, unsigned successor,
                            const Blocks &doomed) const {
  const Instruction &terminator = *from.getTerminator();
  if (terminator.getNumSuccessors() < 2)
    return false;
  if (const auto *invoke = dyn_cast<InvokeInst>(&terminator))
    return terminator.getSuccessor(successor) == invoke->getUnwindDest();
  SmallVector<std::uint32_t, 4> weights;
  if (extractBranchWeights(terminator, weights) && successor < weights.size()) {
    const std::uint64_t total = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0});
    return weights[successor] * kUnlikelyRatio < total;
  }
  if (const auto *branch = dyn_cast<BranchInst>(&terminator)) {
    if (const std::optional<APInt> expected = expected_value(branch->getCondition()))
      return expected->isZero() == (successor == 0);
  } else if (const auto *choice = dyn_cast<SwitchInst>(&terminator)) {
    if (const std::optional<APInt> expected = expected_value(choice->getCondition()))
      return terminator.getSuccessor(successor) !=
             choice->findCaseValue(ConstantInt::get(choice->getContext(), *expected))
                 ->getCaseSuccessor();
  }
  return doomed.contains(terminator.getSuccessor(successor)) && !doomed.contains(&from);
}

const ColdPaths::Blocks &ColdPaths::hot_from(const BasicBlock &origin) {
  const auto known = hot_.find(&origin);
  if (known != hot_.end())
    return known->second;
  const Blocks &ends = doomed(*origin.getParent());
  Blocks hot{&origin};
  SmallVector<const BasicBlock *, 16> work{&origin};
  while (!work.empty()) {
    const BasicBlock *block = work.pop_back_val();
    const Instruction *terminator = block->getTerminator();
    for (unsigned i = 0; i < terminator->getNumSuccessors(); ++i)
      if (!is_unlikely(*block, i, ends) && hot.insert(terminator->getSuccessor(i)).second)
        work.push_back(terminator->getSuccessor(i));
  }
  return hot_[&origin] = std::move(hot);
}

bool ColdPaths::is_cold(const Instruction &instruction, const Instruction *begin) {
  const BasicBlock &origin =
      begin == nullptr ? instruction.getFunction()->getEntryBlock() : *begin->getParent();
  return !hot_from(origin).contains(instruction.getParent());
}

bool ColdPaths::is_cold(ArrayRef<const Instruction *> chain, const Instruction *begin) {
  for (const Instruction *call : chain) {
    if (is_cold(*call, begin))
      return true;
    begin = nullptr;
  }
  return false;
}

} // namespace tandem
