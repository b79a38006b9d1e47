// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pass/prepare.h"

#include "compiler/pass/replaced.h"
#include "compiler/sections/promises.h"

#include "llvm/IR/Module.h"

namespace tandem {

using namespace llvm;

bool prepare(Module &module, Catalogue &catalogue, const std::set<std::string> &native) {
  catalogue.enable_hooks([&](std::string_view name) {
    const GlobalValue *value = module.getNamedValue(name);
    return value != nullptr && value->isDeclaration() && !value->use_empty();
  });
  read_promises(module);
  const bool replaced = show_replaced_operators(module, native);
  know_replaced_malloc(module, native, catalogue);
  return replaced;
}

} // namespace tandem
