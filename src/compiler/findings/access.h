// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to memory, instruction by instruction.
#pragma once

#include "compiler/points_to/points_to.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instruction.h"

#include <cstdint>

namespace tandem {

struct Access {
  const llvm::Value *pointer = nullptr;
  const llvm::Type *type = nullptr; // of the value; null for a memory intrinsic
  std::uint64_t size = 0;           // bytes, or PointsToAnalysis::kUnknownSize
  bool writes = false;
  bool is_volatile = false;
  bool atomic = false;
};

// What a load, a store, an atomic update or a memory intrinsic accesses; for other instructions
// nothing.
llvm::SmallVector<Access, 2> accesses_of(const llvm::Instruction &instruction);

// Whether two accesses that the points-to graph has in one place are likely to meet there: both
// are by constant offsets from one variable and overlap, or one is by a pointer and both are of one
// type, in one field of one record. The graph merges more than that.
bool likely_meet(const Access &a, const Access &b, const llvm::DataLayout &layout);

// Whether `pointer`, used by `instruction`, leads into an object that its function has allocated
// and, on every way to the instruction, has not yet let anyone else know of.
bool is_unpublished(const llvm::Value &pointer, const llvm::Instruction &instruction,
                    const PointsToAnalysis &points_to);

} // namespace tandem
