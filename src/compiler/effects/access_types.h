// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the program takes memory for (C11 6.5, paragraphs 6 and 7): the type of each access as clang
// writes it down for its own optimiser (TBAA), and the structure whose member is accessed. What is
// accessed as one type is not accessed as another at the same time. Accesses of characters, unions,
// types with the attribute `may_alias`, memory that functions copy, and all that is compiled with
// -fno-strict-aliasing may mean anything. Memory that is no structure's may be one type now and
// another later: two such accesses are never told apart.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

namespace tandem {

using AccessType = std::uint32_t;
inline constexpr AccessType kAnyAccess = 0;

class AccessTypes {
public:
  // `module` outlives this object.
  explicit AccessTypes(const llvm::Module &module);

  AccessType of(const llvm::Instruction &instruction);
  // Whether accesses of two types may mean one object. Members of two structures may, against the
  // letter of the standard, where they have one type and lie at one offset: structures that begin
  // alike are taken for each other.
  bool may_alias(AccessType a, AccessType b);

private:
  [[nodiscard]] bool compare(AccessType a, AccessType b) const;
  // A scalar that is a member of a structure.
  struct Member {
    const llvm::StructType *record = nullptr; // null: none is known
    std::uint64_t offset = 0;
    const llvm::Type *type = nullptr;
    auto operator<=>(const Member &) const = default;
  };
  struct Access {
    const llvm::MDNode *tag = nullptr; // null: characters
    Member member;
    auto operator<=>(const Access &) const = default;
  };

  [[nodiscard]] std::optional<Member> member(const llvm::Instruction &access) const;
  [[nodiscard]] bool may_mean_one(const Member &a, const Member &b) const;

  const llvm::DataLayout &layout_;
  llvm::DenseSet<const llvm::Type *> untyped_; // structures that may alias anything
  std::vector<Access> accesses_{Access{}};
  std::map<Access, AccessType> known_;
  enum class Answer : std::uint8_t { unknown, no, yes };
  std::vector<std::vector<Answer>> aliases_; // by the larger of two types, and the smaller
};

} // namespace tandem
