// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lock contexts: which threads run each function, and with which locks held by its callers. Each
// function has one for each thread and each set of locks that it is called with.
//
// A lock that is held as a reader excludes no other reader. The control of pthread_once and
// std::call_once counts as a lock: the function that runs once holds it for writing, and a thread
// that has returned from the call holds it for reading until it ends. So the two are ordered.
#pragma once

#include "compiler/findings/findings.h"
#include "compiler/findings/held_locks.h"
#include "compiler/findings/virtual_slots.h"

#include "llvm/ADT/DenseSet.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tandem {

class LockContexts {
public:
  LockContexts(const AnalysisView &view, const HeldLocks &held);

  // A set of locks, by number; 0: of none.
  using SetId = std::uint32_t;
  struct Context {
    std::uint32_t entry;
    SetId locks; // that the callers may hold
    auto operator<=>(const Context &) const = default;
  };
  using Contexts = std::map<Context, SetId>; // with what the callers certainly hold then
  [[nodiscard]] const std::map<const llvm::Function *, Contexts> &all() const { return contexts_; }

  // Marked sections: no context leads into them.
  [[nodiscard]] bool is_marked(const llvm::Function &function) const {
    return marked_.contains(&function);
  }

  // What an instruction's function itself may hold there, and what it certainly does.
  std::pair<SetId, SetId> held_at(const llvm::Instruction &instruction);
  // Both sets together: what the callers hold, and what the function does.
  SetId with(SetId outer, SetId inner);

  [[nodiscard]] std::size_t count(SetId set) const { return sets_[set]->count(); }
  // Whether locks are held, and not only what has run once.
  [[nodiscard]] bool has_lock(SetId set) const;
  // Whether one of the locks makes sections.
  [[nodiscard]] bool has_section(SetId set) const;
  // `fixed`: what is accessed is one variable, which an element of an array of locks, or one of
  // several locks by a pointer, guards only where it is known which one.
  [[nodiscard]] bool have_common_lock(SetId a, SetId b, bool fixed) const;
  // "'a', 'b' (as a reader)"
  [[nodiscard]] std::string print(SetId set) const;

private:
  struct Step {
    const llvm::CallBase *call;
    SetId held;   // by the function itself
    SetId always; // of these, on every path
    llvm::ArrayRef<const llvm::Function *> targets;
  };

  void find();
  SetId set_id(LockSet set);
  SetId common(SetId one, SetId other);
  const std::vector<Step> &steps(const llvm::Function &function);
  [[nodiscard]] bool runs_once(SetId set) const;
  [[nodiscard]] bool is_operation(const llvm::Function &function) const;

  const AnalysisView &view_;
  const HeldLocks &held_;
  const VirtualSlots slots_;
  llvm::DenseSet<const llvm::Function *> marked_;
  std::map<LockSet, SetId> set_ids_;
  std::vector<const LockSet *> sets_;
  std::map<std::pair<SetId, SetId>, SetId> unions_;
  std::map<const llvm::Function *, std::vector<Step>> steps_;
  // By std::call_once.
  std::map<const llvm::Function *, llvm::SmallVector<const llvm::Function *, 1>> proxied_;
  std::map<const llvm::Function *, Contexts> contexts_;
};

} // namespace tandem
