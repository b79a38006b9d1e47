// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What reaches the program's memory and functions by name: code outside that sees its symbols, the
// linker, assembly. What they know counts as known to all code outside the program.
#include "compiler/points_to/assembly.h"
#include "compiler/points_to/program_start.h"
#include "compiler/points_to/solver.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/GlobalIFunc.h"

namespace tandem {

using namespace llvm;

namespace {

// Symbols that the linker defines, from which a program goes through all of its data (ELF, the
// linkers' default scripts).
constexpr StringRef kImage[] = {"_end",
                                "end",
                                "__end",
                                "_edata",
                                "edata",
                                "__edata",
                                "_etext",
                                "etext",
                                "__etext",
                                "data_start",
                                "__bss_start",
                                "__bss_start__",
                                "__data_start",
                                "__bss_end__",
                                "_bss_end__",
                                "__executable_start",
                                "__ehdr_start",
                                "_DYNAMIC",
                                "_GLOBAL_OFFSET_TABLE_"};
// The same, from which it goes through what lists_start().
constexpr StringRef kStart[] = {
    "__preinit_array_start", "__preinit_array_end", "__init_array_start", "__init_array_end",
    "__fini_array_start",    "__fini_array_end",    "__CTOR_LIST__",      "__DTOR_LIST__"};

bool is_asked_for(const Module &module, StringRef name) {
  const GlobalValue *value = module.getNamedValue(name);
  return value != nullptr && value->isDeclaration() && !value->use_empty();
}

bool is_asked_for(const Module &module, ArrayRef<StringRef> names) {
  return any_of(names, [&](StringRef name) { return is_asked_for(module, name); });
}

// Whether the program asks for the bounds of a section, as the linker gives them where the name is
// one of C.
bool has_bounds(const Module &module, StringRef section) {
  return !section.empty() && (is_asked_for(module, ("__start_" + section).str()) ||
                              is_asked_for(module, ("__stop_" + section).str()));
}

} // namespace

// Where a symbol that is not a variable or a function leads.
void PointsToGraph::add_ifuncs() {
  for (const GlobalIFunc &ifunc : module_.ifuncs()) {
    const Pointer chosen = nowhere(kProgram);
    ifuncs_[&ifunc] = chosen;
    const Function *resolver = ifunc.getResolverFunction();
    if (resolver == nullptr || resolver->isDeclaration())
      pass(outside(), chosen);
    else if (resolver->getReturnType()->isPointerTy())
      pass(result(*resolver, 0), chosen);
  }
}

void PointsToGraph::escape(const GlobalValue &value) {
  if (value.getName().starts_with("llvm.") || value.getName() == "main")
    return;
  if (const std::optional<Pointer> pointer = constant(&value, 0))
    escape(*pointer);
}

// Call after all variables have their initial values.
void PointsToGraph::escape_known_symbols() {
  for (const Function &function : module_)
    if (!function.isDeclaration() && !function.hasLocalLinkage() &&
        !function.hasAvailableExternallyLinkage())
      escape(function);
  for (const GlobalAlias &alias : module_.aliases())
    if (!alias.hasLocalLinkage())
      escape(alias);
  for (const GlobalIFunc &ifunc : module_.ifuncs())
    if (!ifunc.hasLocalLinkage())
      escape(ifunc);
  // Something that no compiler sees refers to these.
  SmallVector<GlobalValue *, 16> listed;
  collectUsedGlobalVariables(module_, listed, /*CompilerUsed=*/false);
  collectUsedGlobalVariables(module_, listed, /*CompilerUsed=*/true);
  const SmallPtrSet<const GlobalValue *, 16> used(listed.begin(), listed.end());
  for (const GlobalVariable &variable : module_.globals())
    if (used.contains(&variable) && !lists_start(variable))
      escape(variable);
  for (const Function &function : module_)
    if (used.contains(&function))
      escape(function);
  const bool image = is_asked_for(module_, kImage);
  const bool start = image || is_asked_for(module_, kStart);
  for (const GlobalVariable &variable : module_.globals())
    if (image || has_bounds(module_, variable.getSection()) || (start && lists_start(variable)))
      escape(variable);
  if (start) {
    const ProgramStart known = program_start(module_);
    for (const auto *functions : {&known.before, &known.after})
      for (const Function *function : *functions)
        escape(*function);
  }
  for (const GlobalValue *named : named_in_assembly(module_))
    escape(*named);
}

} // namespace tandem
