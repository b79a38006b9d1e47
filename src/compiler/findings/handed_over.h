// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects that threads hand to each other: what one has waited for, what one signals that it has
// put where others find it, and what one makes for each thread that it is about to create.
//
// For advice, not for soundness: what is taken in a section behind a wait for a condition is taken
// to be the waiter's alone from then on.
#pragma once

#include "compiler/findings/findings.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <map>
#include <vector>

namespace tandem {

class HandedOver {
public:
  // `view` outlives this object.
  explicit HandedOver(const AnalysisView &view);

  // A call on the way of a thread to each function that it runs.
  using Way = llvm::DenseMap<const llvm::Function *, const llvm::CallBase *>;

  // Whether a pointer leads to what the thread on the way was handed over when it had waited for a
  // condition: behind the wait it was loaded in a section, or is the result of a function that
  // waits, and it does not lead to the object that has the condition or its lock.
  bool is_behind_wait(const llvm::Value &pointer, const llvm::Instruction &at, const Way &way);

  // Whether a pointer leads to an object that the function publishes only later: the object is an
  // argument or a call's result, and the function stores its address to memory in a section and
  // then signals a condition variable.
  bool is_before_signal(const llvm::Value &pointer, const llvm::Instruction &at);

  // Whether the pointer leads into what the function soon hands to each thread that `creations`
  // create, an element of an array for each round of a loop: no thread has it yet.
  static bool is_for_new_thread(const llvm::Value &pointer, const llvm::Instruction &at,
                                const std::vector<const llvm::CallBase *> &creations);
  // The same for a thread that the function creates, whichever it begins with.
  [[nodiscard]] bool is_for_new_thread(const llvm::Value &pointer,
                                       const llvm::Instruction &at) const;

private:
  bool is_behind_wait(const llvm::Value &pointer, const llvm::Instruction &at, const Way &way,
                      llvm::SmallPtrSetImpl<const llvm::Value *> &assumed);
  bool is_before_signal(const llvm::Value &pointer, const llvm::Instruction &at,
                        llvm::SmallPtrSetImpl<const llvm::Value *> &assumed);
  bool is_handed_on(const llvm::Value &object, const llvm::Instruction &at);
  const std::vector<const llvm::Instruction *> &waits_before(const llvm::Function &function);

  const AnalysisView &view_;
  llvm::DenseSet<const llvm::Instruction *> inside_; // lock regions and blocks
  // Of functions that wait for conditions, the waits; of those that were asked for, also the calls
  // that lead to them.
  std::map<const llvm::Function *, std::vector<const llvm::Instruction *>> waits_;
  std::map<const llvm::Function *, std::vector<const llvm::Instruction *>> waiting_;
  std::map<const llvm::Function *, std::vector<const llvm::Instruction *>> signals_;
};

} // namespace tandem
