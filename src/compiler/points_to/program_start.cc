// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/points_to/program_start.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/GlobalIFunc.h"

namespace tandem {

using namespace llvm;

namespace {

// Sections that the loader, or the start-up code, takes functions from. Priorities are suffixes.
constexpr StringRef kBefore[] = {".preinit_array", ".init_array", ".ctors"};
constexpr StringRef kAfter[] = {".fini_array", ".dtors"};

bool is_in(const GlobalObject &object, ArrayRef<StringRef> sections) {
  return any_of(sections, [&](StringRef section) {
    StringRef name = object.getSection();
    return name.consume_front(section) && (name.empty() || name.front() == '.');
  });
}

const Function *defined(const GlobalValue *value) {
  if (const auto *alias = dyn_cast_or_null<GlobalAlias>(value))
    value = alias->getAliaseeObject();
  const auto *function = dyn_cast_or_null<Function>(value);
  return function == nullptr || function->isDeclaration() ? nullptr : function;
}

// Functions, each once, in the order that they are met.
class FunctionList {
public:
  explicit FunctionList(std::vector<const Function *> &functions) : functions_(functions) {}

  void add(const GlobalValue *value) {
    const Function *function = defined(value);
    if (function != nullptr && known_.insert(function).second)
      functions_.push_back(function);
  }

  // Those that a constant leads to, by no other memory.
  void add_all(const Constant &constant) {
    if (const auto *value = dyn_cast<GlobalValue>(&constant)) {
      add(value);
      return;
    }
    for (const Use &operand : constant.operands())
      add_all(*cast<Constant>(operand));
  }

private:
  std::vector<const Function *> &functions_;
  SmallPtrSet<const Function *, 16> known_;
};

// llvm.global_ctors, llvm.global_dtors: a priority, a function and a variable that it belongs to.
void add_list(const Module &module, StringRef name, FunctionList &list) {
  const GlobalVariable *variable = module.getGlobalVariable(name, /*AllowInternal=*/true);
  if (variable == nullptr || !variable->hasInitializer())
    return;
  for (const Use &entry : variable->getInitializer()->operands())
    if (const auto *record = dyn_cast<ConstantStruct>(entry))
      list.add_all(*record->getOperand(1));
}

} // namespace

const Function *main_function(const Module &module) {
  return defined(module.getNamedValue("main"));
}

bool lists_start(const GlobalVariable &variable) {
  return is_in(variable, kBefore) || is_in(variable, kAfter);
}

ProgramStart program_start(const Module &module) {
  ProgramStart start;
  start.main = main_function(module);
  FunctionList before(start.before);
  FunctionList after(start.after);
  for (const GlobalIFunc &ifunc : module.ifuncs())
    before.add_all(*ifunc.getResolver());
  for (const GlobalVariable &variable : module.globals())
    if (variable.hasInitializer()) {
      if (is_in(variable, kBefore))
        before.add_all(*variable.getInitializer());
      else if (is_in(variable, kAfter))
        after.add_all(*variable.getInitializer());
    }
  add_list(module, "llvm.global_ctors", before);
  add_list(module, "llvm.global_dtors", after);
  return start;
}

} // namespace tandem
