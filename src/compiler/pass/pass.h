// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole-program pass: analyse, enforce, report. Runs once per link, over the merged module,
// before any optimisation of it.
#pragma once

#include "compiler/options/options.h"

#include "llvm/IR/PassManager.h"

#include <string>

namespace tandem {

class TandemPass : public llvm::PassInfoMixin<TandemPass> {
public:
  // `runtime_bitcode`: the path of the fast paths that transformed programs link.
  TandemPass(PassOptions options, std::string runtime_bitcode)
      : options_(std::move(options)), runtime_bitcode_(std::move(runtime_bitcode)) {}

  llvm::PreservedAnalyses run(llvm::Module &module, llvm::ModuleAnalysisManager &manager);

  // Also at -O0.
  static bool isRequired() { return true; }

private:
  PassOptions options_;
  std::string runtime_bitcode_;
};

} // namespace tandem
