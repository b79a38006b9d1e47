// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/sections/annotations.h"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

namespace tandem {

using namespace llvm;

void for_each_annotation(Module &module, function_ref<void(Function &, StringRef)> take) {
  const GlobalVariable *annotations = module.getNamedGlobal("llvm.global.annotations");
  const auto *entries = annotations == nullptr || !annotations->hasInitializer()
                            ? nullptr
                            : dyn_cast<ConstantArray>(annotations->getInitializer());
  if (entries == nullptr)
    return;
  for (const Use &use : entries->operands()) {
    const auto *entry = dyn_cast<ConstantStruct>(use.get());
    if (entry == nullptr || entry->getNumOperands() < 2)
      continue;
    auto *function = dyn_cast<Function>(entry->getOperand(0)->stripPointerCasts());
    const auto *text = dyn_cast<GlobalVariable>(entry->getOperand(1)->stripPointerCasts());
    const auto *string = text == nullptr || !text->hasInitializer()
                             ? nullptr
                             : dyn_cast<ConstantDataSequential>(text->getInitializer());
    if (function != nullptr && string != nullptr && string->isCString())
      take(*function, string->getAsCString());
  }
}

} // namespace tandem
