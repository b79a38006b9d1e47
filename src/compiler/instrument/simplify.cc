// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/instrument/simplify.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Function.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LowerExpectIntrinsic.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

namespace tandem {

using namespace llvm;

Simplifier::Simplifier() {
  // No function is a library's: passes that know what malloc or printf do turn calls into others,
  // of which the analysis knows nothing.
  functions_.registerPass([] {
    TargetLibraryInfoImpl nothing;
    nothing.disableAllFunctions();
    return TargetLibraryAnalysis(std::move(nothing));
  });
  PassBuilder builder;
  builder.registerModuleAnalyses(modules_);
  builder.registerCGSCCAnalyses(components_);
  builder.registerFunctionAnalyses(functions_);
  builder.registerLoopAnalyses(loops_);
  builder.crossRegisterProxies(loops_, functions_, components_, modules_);
  passes_.addPass(LowerExpectIntrinsicPass()); // what is unlikely, for Barriers::inlines_at
  passes_.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes_.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes_.addPass(SimplifyCFGPass());
  passes_.addPass(InstCombinePass());
  passes_.addPass(GVNPass());
  passes_.addPass(DSEPass());
  passes_.addPass(ADCEPass());
  passes_.addPass(SimplifyCFGPass());
}

void Simplifier::run(Function &function) {
  if (function.hasOptNone())
    return;
  passes_.run(function, functions_);
  functions_.clear(function, function.getName());
}

} // namespace tandem
