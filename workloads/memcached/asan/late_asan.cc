// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plugin of the linker's optimiser: AddressSanitizer at the end of the link, when the program's
// locks have become sections. At compile time, where clang puts it, its checks come before the
// analysis, which could not tell any more which lock is which. Functions of the whole program are
// checked; what a transaction accesses by calls of its runtime is not.
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"

namespace {

using namespace llvm;

struct LateAsan : PassInfoMixin<LateAsan> {
  static PreservedAnalyses run(Module &module, ModuleAnalysisManager &analyses) {
    // Compiled with its checks already, as where one command compiles and links.
    if (module.getFunction("asan.module_ctor"))
      return PreservedAnalyses::all();
    for (Function &function : module)
      if (!function.isDeclaration() && !function.hasFnAttribute(Attribute::Naked))
        function.addFnAttr(Attribute::SanitizeAddress);
    return AddressSanitizerPass(AddressSanitizerOptions()).run(module, analyses);
  }
};

void add(ModulePassManager &passes, OptimizationLevel) { passes.addPass(LateAsan()); }

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "late-asan", "1", [](PassBuilder &builder) {
            builder.registerFullLinkTimeOptimizationLastEPCallback(add);
          }};
}
