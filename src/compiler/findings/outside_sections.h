// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code outside all sections: which threads come to each function without holding a lock and without
// being in a marked section, and by which calls. What pthread_once and its like run is left out.
#pragma once

#include "compiler/findings/findings.h"
#include "compiler/findings/held_locks.h"
#include "compiler/findings/phases.h"
#include "compiler/findings/virtual_slots.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tandem {

class OutsideSections {
public:
  OutsideSections(const AnalysisView &view, const HeldLocks &held, Phases &phases);

  // Whether an instruction stands in a lock region or a block.
  [[nodiscard]] bool is_inside(const llvm::Instruction &instruction) const {
    return inside_.contains(&instruction);
  }
  // Whether only pthread_once and its like run a function.
  [[nodiscard]] bool runs_once(const llvm::Function &function) const {
    return once_.contains(&function);
  }

  // The entries whose threads run each function outside all sections; no others are in it.
  [[nodiscard]] const std::map<const llvm::Function *, EntrySet> &entered() const {
    return entered_by_;
  }

  // A call and the functions of the program that it enters; calls may have one array.
  struct Steps {
    const llvm::CallBase *call;
    llvm::ArrayRef<const llvm::Function *> targets;
  };
  // The calls of a function that are made outside all sections.
  const std::vector<Steps> &steps(const llvm::Function &function);
  // The targets of a call that are followed; of the C++ library those that are given functions.
  llvm::ArrayRef<const llvm::Function *> targets(const llvm::CallBase &call);

  // Functions that a thread of the entry runs outside all sections, and a call on a way to each:
  // without a call that may enter many functions, where there is such a way.
  struct Ways {
    llvm::DenseMap<const llvm::Function *, const llvm::CallBase *> call;
    llvm::DenseSet<const llvm::Function *> doubtful; // there is none
    // For entries that the phases follow, by ways of the first kind alone: the threads that may
    // exist when it comes to each function, by where they are created, and a call that it comes by
    // while they do.
    llvm::DenseMap<const llvm::Function *, Phases::Sites> beside;
    llvm::DenseMap<std::pair<const llvm::Function *, unsigned>, const llvm::CallBase *> with;
  };
  const Ways &ways(std::uint32_t entry);

  // Whether some way to an instruction is one on which a thread of `other` exists, as far as that
  // is followed.
  bool comes_beside(std::uint32_t entry, const llvm::Instruction &outside, std::uint32_t other);

  // How a thread of `entry` gets to an instruction: calls, the first one first, each with the
  // function that it enters. With `other`: while a thread of that entry exists, where that is
  // known.
  using Way = std::vector<std::pair<const llvm::CallBase *, const llvm::Function *>>;
  Way way_to(const llvm::Instruction &outside, std::uint32_t entry,
             std::optional<std::uint32_t> other);

private:
  void find_once();
  [[nodiscard]] bool begins_thread(const llvm::Function &function) const;
  [[nodiscard]] llvm::SmallVector<const llvm::Function *, 2> begins(const Entry &entry) const;
  void find_entered();
  void find_beside(std::uint32_t entry, Ways &ways);
  Phases::Sites sites_beside(std::uint32_t entry, const llvm::Instruction &outside);

  const AnalysisView &view_;
  const HeldLocks &held_;
  Phases &phases_;
  const VirtualSlots slots_;
  llvm::DenseSet<const llvm::Function *> marked_;
  llvm::DenseSet<const llvm::Function *> once_;
  llvm::DenseSet<const llvm::Instruction *> inside_; // lock regions and blocks
  std::map<const llvm::Function *, std::vector<Steps>> steps_;
  // By array, and the virtual call's entry.
  std::map<std::pair<const llvm::Function *const *, std::optional<std::int64_t>>,
           std::vector<const llvm::Function *>>
      targets_;
  std::map<const llvm::Function *, EntrySet> entered_by_;
  std::map<std::uint32_t, Ways> ways_; // by entry, of those that are asked for
};

} // namespace tandem
