// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where threads are created, and which of these are certainly over behind a join.
#pragma once

#include "compiler/points_to/points_to.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tandem {

// certain: only what is joined on every way. likely: also where a join, or a loop of joins, stands
// behind a condition: who joins a thread on some condition has it on that condition; and loops up
// to variables are taken to be about as many threads.
enum class JoinMode { certain, likely };

class Joins {
public:
  Joins(const llvm::Module &module, const PointsToAnalysis &points_to, JoinMode mode);

  // Calls that create threads, numbered in the order of PointsToAnalysis::spawns().
  [[nodiscard]] const std::vector<const llvm::CallBase *> &creations() const { return creations_; }
  [[nodiscard]] std::optional<std::uint32_t> creation(const llvm::Instruction &call) const {
    const auto found = numbers_.find(&call);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }
  // The creations whose threads are over behind `call`.
  [[nodiscard]] llvm::ArrayRef<std::uint32_t> behind(const llvm::Instruction &call) const {
    const auto found = behind_.find(&call);
    return found == behind_.end() ? llvm::ArrayRef<std::uint32_t>()
                                  : llvm::ArrayRef<std::uint32_t>(found->second);
  }
  // The creations whose threads are over where control leaves a loop of joins.
  [[nodiscard]] llvm::ArrayRef<std::uint32_t> on_edge(const llvm::BasicBlock *from,
                                                      const llvm::BasicBlock *to) const {
    const auto found = edges_.find({from, to});
    return found == edges_.end() ? llvm::ArrayRef<std::uint32_t>()
                                 : llvm::ArrayRef<std::uint32_t>(found->second);
  }
  // Whether a call creates a thread, or joins one, known or not.
  [[nodiscard]] bool changes_at(const llvm::CallBase &call) const;
  // Functions with a creation or a join.
  [[nodiscard]] bool matters(const llvm::Function &function) const {
    return matters_.contains(&function);
  }

private:
  struct Handle {
    const llvm::CallBase *call;
    const llvm::Value *address;
    bool in_vector = false; // the address is that of a vector which keeps it, or joins all
  };
  void find(const llvm::Module &module);
  void match(const Handle &join, const PointsToAnalysis &points_to);
  void match_all(std::uint32_t creation, const PointsToAnalysis &points_to);
  void find_failures();

  JoinMode mode_;
  std::vector<const llvm::CallBase *> creations_;
  llvm::DenseMap<const llvm::Instruction *, std::uint32_t> numbers_;
  std::vector<std::vector<Handle>> handles_; // by creation: where the handle goes
  std::vector<Handle> joins_;
  llvm::DenseMap<const llvm::Instruction *, std::vector<std::uint32_t>> behind_;
  std::map<std::pair<const llvm::BasicBlock *, const llvm::BasicBlock *>,
           std::vector<std::uint32_t>>
      edges_;
  llvm::DenseSet<const llvm::Function *> matters_;
};

} // namespace tandem
