// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Start order: which threads may exist when main gets somewhere, beyond what Sharing tells about
// the first one.
#pragma once

#include "compiler/points_to/points_to.h"
#include "compiler/sharing/sharing.h"

#include "llvm/IR/Module.h"

#include <functional>
#include <map>
#include <set>
#include <vector>

namespace tandem {

// A call and the functions of the program that it enters; calls may have one array.
struct Steps {
  const llvm::CallBase *call;
  llvm::ArrayRef<const llvm::Function *> targets;
};

class StartOrder {
public:
  // `steps_of` gives the steps of a function that main is followed through. All arguments outlive
  // this object.
  using StepsOf = std::function<const std::vector<Steps> &(const llvm::Function &)>;
  StartOrder(const llvm::Module &module, const PointsToAnalysis &points_to, const Sharing &sharing,
             StepsOf steps_of);

  // Whether main may get to an instruction, through those steps, after something has started code
  // of an entry.
  [[nodiscard]] bool may_follow_start(const llvm::Instruction &instruction, std::uint32_t entry);

private:
  struct Start {
    bool known = false;
    bool always = false; // by code outside the program
    // Calls that start the entry's code, or lead to one that does.
    std::set<const llvm::CallBase *> calls;
    std::map<const llvm::Function *, std::vector<const llvm::CallBase *>>
        in; // those that main runs
    // Functions that main may run as a whole afterwards; all of these arrays are.
    llvm::DenseSet<const llvm::Function *> after;
    llvm::DenseSet<const llvm::Function *const *> arrays;
  };
  void find_calls(std::uint32_t entry, Start &start);
  void find_after(Start &start);
  void add_after(llvm::ArrayRef<const llvm::Function *> functions, Start &start);

  const PointsToAnalysis &points_to_;
  const Sharing &sharing_;
  const StepsOf steps_of_;
  const llvm::Function *main_ = nullptr;
  using Calls = std::vector<const llvm::CallBase *>;
  std::map<const llvm::Function *const *, Calls> calls_of_;              // by array of targets
  std::map<const llvm::Function *, std::vector<const Calls *>> callers_; // by array that has it
  std::map<const llvm::Function *, std::vector<const llvm::CallBase *>> spawned_;
  std::map<const llvm::Function *, std::vector<std::uint32_t>> entries_; // but main
  std::vector<Start> starts_;                                            // by entry
};

} // namespace tandem
