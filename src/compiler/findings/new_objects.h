// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects that no other thread has: they are being made, or destroyed, by code that the text shows
// to be their only user.
//
// For advice, not for soundness: who initialises or destroys a lock is taken to have its object.
#pragma once

#include "compiler/findings/findings.h"
#include "compiler/findings/phases.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tandem {

// Calls of each function.
using CallsOf = llvm::DenseMap<const llvm::Function *, std::vector<const llvm::CallBase *>>;

// Whether two addresses of a function are in one object, by its text.
bool are_in_one_object(const llvm::Value &a, const llvm::Value &b);

class NewObjects {
public:
  // Both outlive this object.
  NewObjects(const AnalysisView &view, const Phases &phases) : view_(view), phases_(phases) {}

  // Whether the pointer leads into an object that is being made, or into what its function is given
  // and each of `calls` gives it an object that no other thread can reach yet.
  bool contain(const llvm::Value &pointer, const llvm::Instruction &at, const CallsOf &calls,
               unsigned depth = 0);

private:
  enum class LockLife { begins, ends };
  // Where a lock's life begins or ends in a function, or in one that it hands the lock to.
  struct LockMade {
    const llvm::CallBase *call;
    const llvm::Value *lock;
    LockLife life;
  };
  static std::optional<LockLife> lock_life(llvm::StringRef name);
  static bool is_of_record(const LockMade &made, const llvm::Value &pointer);
  bool is_of_lock_made(const llvm::Value &pointer, const llvm::Instruction &at);
  bool leads_to(const llvm::Instruction &from, const llvm::CallBase &call);
  bool may_wait(const llvm::CallBase &call);
  const std::vector<LockMade> &locks_made_in(const llvm::Function &function, unsigned steps = 2);

  const AnalysisView &view_;
  const Phases &phases_;
  // Of functions asked for, by how many calls deep.
  std::map<std::pair<const llvm::Function *, unsigned>, std::vector<LockMade>> locks_made_;
  llvm::DenseMap<const llvm::Function *, bool> may_wait_;
};

} // namespace tandem
