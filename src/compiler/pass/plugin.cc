// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TandemPass.so: the pass as a plugin of lld (--load-pass-plugin) and of opt (-passes=tandem). Its
// options come from the environment (compiler/options/options.h).
#include "base/doing.h"
#include "base/printable.h"
#include "compiler/instrument/barriers.h"
#include "compiler/instrument/clones.h"
#include "compiler/internal_error/internal_error.h"
#include "compiler/pass/pass.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"

#include <cstdio>
#include <dlfcn.h>
#include <unistd.h>

namespace tandem {
namespace {

using namespace llvm;

// Of this plugin.
std::string own_path() {
  Dl_info self{};
  return ::dladdr(reinterpret_cast<const void *>(&own_path), &self) == 0 ||
                 self.dli_fname == nullptr
             ? ""
             : self.dli_fname;
}

// The runtime's bitcode lies beside this plugin.
std::string runtime_bitcode() {
  const std::string path = own_path();
  return path.substr(0, path.rfind('/') + 1) + "runtime.bc";
}

TandemPass make_pass() {
  catch_internal_errors(Reproducer::bitcode, own_path());
  Result<PassOptions> options = PassOptions::from_environment();
  if (!options) {
    std::fprintf(stderr, "tandem-cc: %s\n", printable(options.error().message).c_str());
    std::fflush(stderr);
    ::_exit(kUsageStatus);
  }
  return TandemPass(std::move(options).value(), runtime_bitcode());
}

// What comes behind our pass works on what that has built.
struct WatchOthers : PassInfoMixin<WatchOthers> {
  std::string passes; // of the whole link
  PreservedAnalyses run(Module &, ModuleAnalysisManager &) {
    repeat_with(passes);
    static const Doing behind("LLVM's passes and code generator ran over what Tandem had built");
    provoke("behind");
    return PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

// Transactional clones are most of an enforced program's code, and what most of them spend their
// time on is calls of the runtime, one an access. Those pass the compile step's pipeline by: their
// accesses were merged already (instrument/simplify.h), and the link's own pipeline follows, which
// from -O2 on does most of the same.
constexpr StringRef kPassedBy = "tandem-passed-by";
// Instructions of such a clone for each of its calls, at most: else it computes by itself.
constexpr std::size_t kSparsest = 12;

bool passes_by(const Function &function) {
  if (!function.hasFnAttribute(kTransactionalAttribute) || function.hasOptNone() ||
      function.hasOptSize() || function.hasMinSize() ||
      function.hasFnAttribute(Attribute::OptimizeForDebugging) ||
      function.hasFnAttribute(Attribute::AlwaysInline))
    return false;
  std::size_t calls = 0;
  for (const Instruction &instruction : instructions(function))
    if (const auto *call = dyn_cast<CallBase>(&instruction))
      if (const Function *callee = call->getCalledFunction()) {
        if (callee->getName().starts_with(kInlinedAccess))
          return false;
        calls += callee->getName().starts_with("_ITM_") ? 1 : 0;
      }
  return calls * kSparsest >= function.getInstructionCount();
}

struct PassByClones : PassInfoMixin<PassByClones> {
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    bool changed = false;
    for (Function &function : module)
      if (passes_by(function)) {
        function.addFnAttr(kPassedBy,
                           function.hasFnAttribute(Attribute::NoInline) ? "noinline" : "");
        function.addFnAttr(Attribute::OptimizeNone);
        function.addFnAttr(Attribute::NoInline); // optnone needs it
        changed = true;
      }
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

struct OptimiseClones : PassInfoMixin<OptimiseClones> {
  PreservedAnalyses run(Module &module, ModuleAnalysisManager &) {
    bool changed = false;
    for (Function &function : module)
      if (const Attribute passed = function.getFnAttribute(kPassedBy); passed.isValid()) {
        function.removeFnAttr(Attribute::OptimizeNone);
        if (passed.getValueAsString().empty())
          function.removeFnAttr(Attribute::NoInline);
        function.removeFnAttr(kPassedBy);
        changed = true;
      }
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

void register_callbacks(PassBuilder &builder) {
  builder.registerPipelineParsingCallback(
      [](StringRef name, ModulePassManager &manager, ArrayRef<PassBuilder::PipelineElement>) {
        if (name != "tandem")
          return false;
        manager.addPass(make_pass());
        return true;
      });
  // The driver compiles with passes disabled, so that this pass sees the program as it was written;
  // what the compile step would have done is done here, on what the pass leaves.
  builder.registerFullLinkTimeOptimizationEarlyEPCallback(
      [&builder](ModulePassManager &manager, OptimizationLevel level) {
        manager.addPass(make_pass());
        manager.addPass(WatchOthers{{}, fmt::format("lto<O{}>", level.getSpeedupLevel())});
        if (level == OptimizationLevel::O0)
          return;
        // Plain versions of sections that only their clones replace.
        manager.addPass(GlobalDCEPass());
        if (level.getSpeedupLevel() > 1)
          manager.addPass(PassByClones());
        manager.addPass(builder.buildLTOPreLinkDefaultPipeline(level));
        manager.addPass(OptimiseClones());
      });
}

} // namespace
} // namespace tandem

extern "C" LLVM_ATTRIBUTE_WEAK __attribute__((visibility("default"))) ::llvm::PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "tandem", "1", tandem::register_callbacks};
}
