// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/hidden_operations.h"

#include "compiler/sections/called_function.h"

#include "llvm/IR/InstIterator.h"

#include <optional>
#include <utility>

namespace tandem {

using namespace llvm;

HiddenOperations::HiddenOperations(const Module &module) {
  for (const Function &function : module)
    if (std::optional<LockFunction> does = lock_function(function))
      known_.try_emplace(&function, std::move(*does));
}

const LockFunction *HiddenOperations::behind(const CallBase &call) {
  const Function *callee = called_function(call);
  return callee == nullptr || known_.contains(callee) || callee->isDeclaration() ||
                 !is_library_function(*callee)
             ? nullptr
             : in(*callee);
}

const LockFunction *HiddenOperations::in(const Function &function) {
  const auto [known, fresh] = found_.try_emplace(&function, nullptr); // recursion adds nothing
  if (!fresh)
    return known->second;
  const LockFunction *found = nullptr;
  for (const Instruction &instruction : instructions(function)) {
    const auto *call = dyn_cast<CallBase>(&instruction);
    const Function *callee = call == nullptr ? nullptr : called_function(*call);
    const auto does = callee == nullptr ? known_.end() : known_.find(callee);
    if (does != known_.end() && does->second.operation &&
        does->second.operation != LockOperation::unlock)
      found = &does->second;
    else if (call != nullptr && found == nullptr)
      found = behind(*call);
  }
  return found_[&function] = found;
}

} // namespace tandem
