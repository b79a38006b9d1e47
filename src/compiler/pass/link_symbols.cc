// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pass/link_symbols.h"

#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <vector>

namespace tandem {

using namespace llvm;

namespace {

// Whether machine code asks for the bounds of a section, which the linker defines where the name is
// one of C.
bool has_bounds(const LinkInputs &inputs, StringRef section) {
  return inputs.native_uses.contains(("__start_" + section).str()) ||
         inputs.native_uses.contains(("__stop_" + section).str());
}

// Whether a linker script may say where a variable is.
bool may_be_placed(const GlobalVariable &variable, const LinkInputs &inputs,
                   const Catalogue &catalogue) {
  return variable.isDeclaration() && !variable.use_empty() &&
         variable.getName() != "__dso_handle" &&
         !inputs.native_definitions.contains(variable.getName().str()) &&
         !catalogue.is_own_variable(variable.getName().str());
}

} // namespace

void keep_linked_symbols(Module &module, const LinkInputs &inputs, const Catalogue &catalogue) {
  const bool all = inputs.script_defines && any_of(module.globals(), [&](const auto &variable) {
                     return may_be_placed(variable, inputs, catalogue);
                   });
  std::vector<GlobalValue *> kept;
  for (GlobalVariable &variable : module.globals())
    if (!variable.isDeclaration() && !variable.getName().starts_with("llvm.") &&
        (all || (variable.hasSection() && has_bounds(inputs, variable.getSection()))))
      kept.push_back(&variable);
  if (!kept.empty())
    appendToCompilerUsed(module, kept);
}

} // namespace tandem
