// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What instructions do, as far as it can be told from the instruction and the catalogue alone:
// what cannot be undone, what only computes, and where a call may lead at worst.
#pragma once

#include "compiler/catalogue/catalogue.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace tandem {

// Whether an intrinsic neither touches memory that others may see nor does what cannot be undone,
// although LLVM counts some of them as memory accesses to keep their place. The memory intrinsics
// (memcpy and the like) are not harmless.
bool is_harmless(const llvm::IntrinsicInst &intrinsic);

class Actions {
public:
  // Both outlive this object; the module may change, its functions with an address taken may not.
  Actions(const llvm::Module &module, const Catalogue &catalogue);

  // What an instruction that is not a call to a function of the program does that cannot be undone:
  // the callee's name, "(inline assembly)", "(atomic operation)", "(indirect call)"; empty if it
  // can be.
  [[nodiscard]] std::string irrevocable_action(const llvm::Instruction &instruction) const;
  // The same for a call that enters `callee`, which the program does not define; no intrinsic.
  [[nodiscard]] std::string irrevocable_call(const llvm::CallBase &call,
                                             const llvm::Function &callee) const;

  // Whether no execution of `function` touches memory that others may see or performs an
  // irrevocable action: it computes from its arguments alone.
  [[nodiscard]] bool computes_only(const llvm::Function &function) const;

  // Functions of the program that a call may run, by their types alone.
  [[nodiscard]] std::vector<const llvm::Function *> targets(const llvm::CallBase &call) const;

private:
  [[nodiscard]] bool computes_only(const llvm::Instruction &instruction) const;

  const Catalogue &catalogue_;
  std::vector<const llvm::Function *> address_taken_;
};

} // namespace tandem
