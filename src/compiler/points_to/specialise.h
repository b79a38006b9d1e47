// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A copy of the program in which small functions exist once for each place that calls them. What is
// found out about the copy, by an analysis that knows nothing of callers, is known for each caller
// apart: above all the objects that a function allocates, which are then not one but one for each
// of the function's callers.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <memory>

namespace tandem {

class SpecialisedProgram {
public:
  // `program` outlives the copy and does not change meanwhile.
  explicit SpecialisedProgram(const llvm::Module &program);

  [[nodiscard]] llvm::Module &module() const { return *module_; }
  // The program's own value that one of the copy stands for: a global, a function, an argument, an
  // instruction; null where it is none of them.
  [[nodiscard]] const llvm::Value *origin(const llvm::Value &value) const {
    return origins_.lookup(&value);
  }
  // The copy's functions for one of the program's.
  [[nodiscard]] llvm::ArrayRef<llvm::Function *> instances(const llvm::Function &function) const;

private:
  using Sizes = llvm::DenseMap<const llvm::Function *, std::size_t>;
  [[nodiscard]] Sizes sizes(std::size_t largest) const;
  void remember(const llvm::Function &program, const llvm::Function &copy);
  void specialise(const Sizes &small);
  void specialise_calls(llvm::Function &function, const Sizes &small);

  llvm::ValueToValueMapTy map_;
  std::unique_ptr<llvm::Module> module_;
  llvm::DenseMap<const llvm::Value *, const llvm::Value *> origins_;
  llvm::DenseMap<const llvm::Function *, llvm::SmallVector<llvm::Function *, 1>> instances_;
};

} // namespace tandem
