// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pass/replaced.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace tandem {
namespace {

using namespace llvm;

// What the library's `from` calls.
struct Forward {
  StringRef from;
  StringRef to;
};

constexpr std::array kForwards = {
    Forward{"_Znam", "_Znwm"},
    Forward{"_ZnwmRKSt9nothrow_t", "_Znwm"},
    Forward{"_ZnamRKSt9nothrow_t", "_Znam"},
    Forward{"_ZnamSt11align_val_t", "_ZnwmSt11align_val_t"},
    Forward{"_ZnwmSt11align_val_tRKSt9nothrow_t", "_ZnwmSt11align_val_t"},
    Forward{"_ZnamSt11align_val_tRKSt9nothrow_t", "_ZnamSt11align_val_t"},
    Forward{"_ZdaPv", "_ZdlPv"},
    Forward{"_ZdlPvm", "_ZdlPv"},
    Forward{"_ZdaPvm", "_ZdaPv"},
    Forward{"_ZdlPvRKSt9nothrow_t", "_ZdlPv"},
    Forward{"_ZdaPvRKSt9nothrow_t", "_ZdaPv"},
    Forward{"_ZdaPvSt11align_val_t", "_ZdlPvSt11align_val_t"},
    Forward{"_ZdlPvmSt11align_val_t", "_ZdlPvSt11align_val_t"},
    Forward{"_ZdaPvmSt11align_val_t", "_ZdaPvSt11align_val_t"},
    Forward{"_ZdlPvSt11align_val_tRKSt9nothrow_t", "_ZdlPvSt11align_val_t"},
    Forward{"_ZdaPvSt11align_val_tRKSt9nothrow_t", "_ZdaPvSt11align_val_t"},
};

constexpr std::array kMalloc = {"malloc",         "calloc",   "realloc", "free", "aligned_alloc",
                                "posix_memalign", "memalign", "valloc",  "cfree"};

// The parameters of an allocation function, by its linker name.
std::vector<StringRef> parameters(StringRef name) {
  std::vector<StringRef> found;
  name = name.drop_front(4); // _Znw, _Zdl, ...
  for (bool more = true; more && !name.empty();) {
    more = false;
    for (const StringRef kind : {"Pv", "m", "St11align_val_t", "RKSt9nothrow_t"})
      if (name.consume_front(kind)) {
        found.push_back(kind);
        more = true;
        break;
      }
  }
  return found;
}

bool is_defined(const Function *function) {
  return function != nullptr && !function->isDeclaration() &&
         !function->hasAvailableExternallyLinkage();
}

// The function of the program that the library's `name` comes to call; null: none.
Function *program_function(const Module &module, const std::set<std::string> &native,
                           StringRef name) {
  while (!native.contains(name.str())) {
    const auto *next =
        std::ranges::find_if(kForwards, [&](const Forward &one) { return one.from == name; });
    if (next == kForwards.end())
      return nullptr;
    name = next->to;
    if (Function *function = module.getFunction(name); is_defined(function))
      return function;
  }
  return nullptr;
}

// Catches all that `call` may throw, and returns null then.
void call_and_catch(IRBuilder<> &builder, Function &made, Function &to, ArrayRef<Value *> given) {
  Module &module = *made.getParent();
  LLVMContext &context = module.getContext();
  BasicBlock *normal = BasicBlock::Create(context, "normal", &made);
  BasicBlock *caught = BasicBlock::Create(context, "caught", &made);
  PointerType *pointer = builder.getPtrTy();
  made.setPersonalityFn(cast<Constant>(
      module
          .getOrInsertFunction("__gxx_personality_v0",
                               FunctionType::get(builder.getInt32Ty(), /*isVarArg=*/true))
          .getCallee()));
  InvokeInst *result = builder.CreateInvoke(&to, normal, caught, given);
  builder.SetInsertPoint(normal);
  builder.CreateRet(result);
  builder.SetInsertPoint(caught);
  LandingPadInst *pad = builder.CreateLandingPad(StructType::get(pointer, builder.getInt32Ty()), 1);
  pad->addClause(ConstantPointerNull::get(pointer));
  builder.CreateCall(module.getOrInsertFunction("__cxa_begin_catch", pointer, pointer),
                     {builder.CreateExtractValue(pad, 0)});
  builder.CreateCall(module.getOrInsertFunction("__cxa_end_catch", builder.getVoidTy()));
  builder.CreateRet(ConstantPointerNull::get(pointer));
}

// What the library's `from` does, where it comes to call `to`.
Function &forward(Function &from, Function &to) {
  const StringRef name = from.getName();
  Function *made = Function::Create(from.getFunctionType(), GlobalValue::InternalLinkage,
                                    name + ".replaced", *from.getParent());
  made->setUWTableKind(UWTableKind::Default);
  IRBuilder<> builder(BasicBlock::Create(from.getContext(), "", made));
  const std::vector<StringRef> has = parameters(name);
  SmallVector<Value *> given;
  for (const StringRef wanted : parameters(to.getName()))
    for (std::size_t i = 0; i < has.size() && i < made->arg_size(); ++i)
      if (has[i] == wanted)
        given.push_back(made->getArg(static_cast<unsigned>(i)));
  if (is_contained(has, "RKSt9nothrow_t") && !to.doesNotThrow() &&
      !to.getReturnType()->isVoidTy()) {
    call_and_catch(builder, *made, to, given);
  } else {
    CallInst *call = builder.CreateCall(&to, given);
    if (to.getReturnType()->isVoidTy())
      builder.CreateRetVoid();
    else
      builder.CreateRet(call);
  }
  if (!from.doesNotThrow())
    return *made;
  made->setDoesNotThrow();
  return *made;
}

} // namespace

bool show_replaced_operators(Module &module, const std::set<std::string> &native) {
  bool any = false;
  for (const Forward &one : kForwards) {
    Function *from = module.getFunction(one.from);
    if (from == nullptr || is_defined(from) || from->use_empty())
      continue;
    Function *to = program_function(module, native, one.from);
    if (to == nullptr || to->arg_size() != parameters(to->getName()).size() ||
        from->getReturnType() != to->getReturnType())
      continue;
    Function &made = forward(*from, *to);
    from->replaceAllUsesWith(&made);
    for (User *user : made.users())
      if (auto *call = dyn_cast<CallBase>(user))
        call->removeFnAttr(Attribute::Builtin); // no library's
    any = true;
  }
  return any;
}

void know_replaced_malloc(const Module &module, const std::set<std::string> &native,
                          Catalogue &catalogue) {
  const bool replaced =
      std::ranges::any_of(kMalloc,
                          [&](const char *name) {
                            return is_defined(module.getFunction(name)) || native.contains(name);
                          }) ||
      std::ranges::any_of(native, [](const std::string &name) {
        return name.starts_with("_Zn") || name.starts_with("_Zd");
      });
  if (replaced)
    catalogue.allocates_by_program();
}

} // namespace tandem
