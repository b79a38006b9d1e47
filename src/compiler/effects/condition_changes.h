// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers discovery's question whether what a condition reads may change before it is asked again:
// by what the function and its callees write, as points-to has it, and by what other threads write.
#pragma once

#include "compiler/points_to/points_to.h"
#include "compiler/sections/changes.h"
#include "compiler/sharing/sharing.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace tandem {

class ConditionChanges final : public Changes {
public:
  // All outlive this object; the module does not change meanwhile. Nothing is computed before the
  // first question.
  ConditionChanges(const llvm::Module &module, const PointsToAnalysis &points_to,
                   const Sharing &sharing, PointsTo mode)
      : module_(module), points_to_(&points_to), sharing_(&sharing), mode_(mode) {}
  // With an analysis of its own, made at the first question. `catalogue` outlives this object.
  ConditionChanges(const llvm::Module &module, const Catalogue &catalogue)
      : module_(module), catalogue_(&catalogue) {}

  bool may_write(const llvm::Instruction &by, const llvm::LoadInst &read) override;
  const llvm::Instruction *written_beside(const llvm::LoadInst &read) override;

private:
  struct Write {
    const llvm::Instruction *at;
    const llvm::Value *pointer; // null: all of the nodes that it is listed under
    std::uint64_t size;
  };
  // What may write what a load reads: instructions, and functions that come to one of them.
  struct Writers {
    std::vector<const llvm::Instruction *> at;
    llvm::DenseSet<const llvm::Instruction *> here; // the same
    llvm::DenseSet<const llvm::Function *> through;
  };

  void prepare();
  void add_writes(const llvm::Instruction &instruction);
  void add_external(const llvm::CallBase &call, const llvm::Function &callee);
  void add(const llvm::Instruction &at, const llvm::Value &pointer, std::uint64_t size);
  [[nodiscard]] bool leaves(const llvm::CallBase &call) const;
  const Writers &writers_of(const llvm::LoadInst &read);
  [[nodiscard]] bool meets(const Write &write, const llvm::LoadInst &read,
                           std::optional<Cell> cell) const;

  const llvm::Module &module_;
  const PointsToAnalysis *points_to_ = nullptr;
  const Sharing *sharing_ = nullptr;
  const Catalogue *catalogue_ = nullptr;
  const PointsTo mode_ = PointsTo::insensitive;
  std::unique_ptr<PointsToAnalysis> own_points_to_;
  std::unique_ptr<Sharing> own_sharing_;
  bool prepared_ = false;
  // Writes by the node that they are in; by kNowhere those of which no node is known, or, where
  // each function has nodes of its own, all.
  std::map<NodeId, std::vector<Write>> writes_;
  std::vector<const llvm::CallBase *> outside_; // calls that may write what others know of
  llvm::DenseMap<const llvm::Function *, llvm::DenseSet<const llvm::Function *>> callers_;
  std::vector<const llvm::Function *> known_outside_; // functions that code outside may call
  llvm::DenseSet<const llvm::Function *> leaving_;    // with a call that may run those
  std::map<const llvm::LoadInst *, Writers> writers_;
};

} // namespace tandem
