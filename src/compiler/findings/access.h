// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Accesses to memory, instruction by instruction.
#pragma once

#include "compiler/points_to/points_to.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instruction.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

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

// What is to be known of accesses to say whether two that the points-to graph has in one place are
// likely to meet there: the graph merges more than that. Accesses of one kind are alike.
class AccessKinds {
public:
  explicit AccessKinds(const llvm::DataLayout &layout) : layout_(layout) {}

  using Kind = std::uint32_t;
  Kind of(const Access &access);

  // Both are by constant offsets from one variable and overlap, or one is by a pointer and both are
  // of one type, in one field of one record or one a pointer to the field that the other has.
  [[nodiscard]] bool likely_meet(Kind a, Kind b) const;
  // Whether both are by constant offsets from one variable.
  [[nodiscard]] bool name_one_variable(Kind a, Kind b) const {
    const llvm::Value *object = descriptions_[a].range.object;
    return object != nullptr && object == descriptions_[b].range.object;
  }
  // The field of a record that it accesses, as a number; 0: none that is known.
  [[nodiscard]] std::uint32_t field(Kind kind) const { return descriptions_[kind].field; }

private:
  // Of a variable; null where it is not known.
  struct Range {
    const llvm::Value *object = nullptr;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    auto operator<=>(const Range &) const = default;
  };
  struct Description {
    Range range;
    const llvm::Type *type = nullptr;
    std::uint32_t field = 0; // 0: in no record
    bool given = false;      // a part of a variable, whose own address is given away
    auto operator<=>(const Description &) const = default;
  };

  [[nodiscard]] Range known_range(const Access &access) const;
  std::uint32_t field_of(const llvm::Value &pointer);

  const llvm::DataLayout &layout_;
  std::vector<Description> descriptions_; // by Kind
  std::map<Description, Kind> kinds_;
  std::map<std::string, std::uint32_t> fields_; // names of 1 and above
  llvm::DenseMap<const llvm::Value *, std::uint32_t> field_of_pointer_;
};

} // namespace tandem
