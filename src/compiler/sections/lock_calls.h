// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that acquire and release locks, seen through thin wrappers: a function that does nothing
// but acquire (or release) one lock stands for the operation, and its callers are the sites.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <optional>
#include <string>
#include <vector>

namespace tandem {

enum class LockOperation { lock, trylock, wait, unlock };

struct LockSite {
  const llvm::CallBase *call = nullptr;
  LockOperation operation = LockOperation::lock;
  std::string lock; // the lock's access path
  bool own = false; // unlock: of what a trylock in the same function returned
  bool named =
      false; // the path is rooted in a global variable, so it means the same in every function
  const llvm::Function *wrapper = nullptr; // the wrapper called, or null
  // trylock: the returned value that means "acquired" is zero (pthread) or not (a wrapper's
  // pointer).
  bool acquired_is_zero = true;
};

class LockCalls {
public:
  explicit LockCalls(const llvm::Module &module);

  // The site that `call` is, if it is one.
  [[nodiscard]] const LockSite *at(const llvm::Instruction &instruction) const;
  [[nodiscard]] bool is_wrapper(const llvm::Function &function) const {
    return wrappers_.contains(&function);
  }
  // The sites of a function in program order.
  [[nodiscard]] std::vector<const LockSite *> sites(const llvm::Function &function) const;

private:
  struct Wrapper {
    LockOperation operation;
    // The lock: a path of its own, or the wrapper's argument of that number.
    LockSite inner;
    std::optional<unsigned> argument;
  };
  void find_direct(const llvm::Module &module);
  void find_wrapper(const llvm::Function &function);
  std::optional<LockSite> through_wrapper(const llvm::CallBase &call) const;

  llvm::DenseMap<const llvm::Instruction *, LockSite> sites_;
  llvm::DenseMap<const llvm::Function *, Wrapper> wrappers_;
};

} // namespace tandem
