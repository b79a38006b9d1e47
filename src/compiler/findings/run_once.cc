// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/findings/run_once.h"

#include "compiler/sections/called_function.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace tandem {

using namespace llvm;

bool is_once(const CallBase &call) {
  const Function *callee = called_function(call);
  if (callee == nullptr || call.arg_size() < 2)
    return false;
  const StringRef name = callee->getName();
  return (callee->isDeclaration() && (name == "pthread_once" || name == "call_once")) ||
         name.starts_with("_ZSt9call_onceI");
}

bool is_for_once(const Function &function) {
  return function.getName().contains("18_Prepare_execution") ||
         (!function.use_empty() && all_of(function.users(), [](const User *user) {
           const auto *call = dyn_cast<CallBase>(user);
           return call != nullptr && is_once(*call);
         }));
}

// std::call_once leaves the function for the library's proxy.
SmallVector<const Function *, 1> once_targets(const CallBase &call,
                                              const PointsToAnalysis &points_to) {
  SmallVector<const Function *, 1> run;
  const Function &once = *called_function(call);
  if (once.isDeclaration()) {
    append_range(run, points_to.targets(call));
    return run;
  }
  for (const Instruction &instruction : instructions(once)) {
    const auto *inner = dyn_cast<CallBase>(&instruction);
    const Function *prepares = inner == nullptr ? nullptr : called_function(*inner);
    if (prepares == nullptr || !prepares->getName().contains("18_Prepare_executionC"))
      continue;
    for (const Instruction &stores : instructions(*prepares))
      if (const auto *store = dyn_cast<StoreInst>(&stores))
        if (const auto *function = dyn_cast<Function>(store->getValueOperand()))
          run.push_back(function);
  }
  return run;
}

} // namespace tandem
