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

// A call and a function of the program that it enters.
struct Step {
  const llvm::CallBase *call;
  const llvm::Function *target;
};

class StartOrder {
public:
  // `steps_of` gives the steps of a function that main is followed through. All arguments outlive
  // this object.
  using StepsOf = std::function<const std::vector<Step> &(const llvm::Function &)>;
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
        in;                                 // those that main runs
    std::set<const llvm::Function *> after; // functions that main may run as a whole afterwards
  };
  void find_calls(std::uint32_t entry, Start &start);
  void find_after(Start &start);
  void add_after(const llvm::Function &function, Start &start);

  const PointsToAnalysis &points_to_;
  const Sharing &sharing_;
  const StepsOf steps_of_;
  const llvm::Function *main_ = nullptr;
  std::map<const llvm::Function *, std::vector<const llvm::CallBase *>> callers_;
  std::map<const llvm::Function *, std::vector<const llvm::CallBase *>> spawned_;
  std::map<const llvm::Function *, std::vector<std::uint32_t>> entries_; // but main
  std::vector<Start> starts_;                                            // by entry
};

} // namespace tandem
