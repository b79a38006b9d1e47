// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/instrument/wrappers.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace tandem {

using namespace llvm;

bool call_wrapper(Module &module, CallBase &call, const CatalogueEntry &entry) {
  if (entry.effect != ExternalEffect::tm_safe && entry.effect != ExternalEffect::deferrable)
    return false;
  // libitm's memory functions return nothing where C's return their first argument.
  if (StringRef(entry.replacement).starts_with("_ITM_mem") && !call.getType()->isVoidTy())
    call.replaceAllUsesWith(call.getArgOperand(0));
  call.setCalledOperand(
      module.getOrInsertFunction(entry.replacement, call.getFunctionType()).getCallee());
  return true;
}

std::vector<Function *> callbacks_of(const CallBase &call, const CatalogueEntry &entry) {
  std::vector<Function *> possible;
  for (const Callback &callback : entry.callbacks) {
    if (callback.when != Callback::When::now || callback.function < 0 ||
        static_cast<unsigned>(callback.function) >= call.arg_size())
      continue;
    Value *given = call.getArgOperand(callback.function)->stripPointerCasts();
    if (auto *function = dyn_cast<Function>(given)) {
      if (!function->isDeclaration())
        possible.push_back(function);
      continue;
    }
    // A variable: any function of the program whose address is known and that takes as much.
    for (Function &function : *const_cast<Module *>(call.getModule()))
      if (!function.isDeclaration() && function.hasAddressTaken() &&
          function.arg_size() == callback.gets.size())
        possible.push_back(&function);
  }
  return possible;
}

void register_clone_table(Module &module, GlobalVariable &table, std::size_t entries) {
  LLVMContext &context = module.getContext();
  constexpr int kFirst = 100; // of the priorities: before what the program's own may call
  const auto emit = [&](StringRef name, StringRef called, bool counted) {
    auto *function = Function::Create(FunctionType::get(Type::getVoidTy(context), false),
                                      GlobalValue::InternalLinkage, name, module);
    IRBuilder<> builder(BasicBlock::Create(context, "entry", function));
    SmallVector<Value *> arguments{&table};
    SmallVector<Type *> types{builder.getPtrTy()};
    if (counted) {
      arguments.push_back(builder.getInt64(entries));
      types.push_back(builder.getInt64Ty());
    }
    builder.CreateCall(
        module.getOrInsertFunction(called, FunctionType::get(builder.getVoidTy(), types, false)),
        arguments);
    builder.CreateRetVoid();
    return function;
  };
  appendToGlobalCtors(module, emit("tandem.register_clones", "_ITM_registerTMCloneTable", true),
                      kFirst);
  appendToGlobalDtors(
      module, emit("tandem.deregister_clones", "_ITM_deregisterTMCloneTable", false), kFirst);
}

} // namespace tandem
