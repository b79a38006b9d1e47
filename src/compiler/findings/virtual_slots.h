// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Virtual calls by the entries of the tables that they load from: of the functions that a pointer
// may denote, a call enters those that some class has in that entry.
//
// Source: Itanium C++ ABI, 2.5 (virtual tables: two words come before the first function).
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <optional>

namespace tandem {

class VirtualSlots {
public:
  explicit VirtualSlots(const llvm::Module &module);

  // The entry of the table that a call loads its function from; nothing where it is no virtual
  // call.
  static std::optional<std::int64_t> slot(const llvm::CallBase &call);
  // Whether some class has the function in that entry, or none has it at all.
  [[nodiscard]] bool may_enter(std::optional<std::int64_t> slot,
                               const llvm::Function &function) const;

private:
  llvm::DenseMap<const llvm::Function *, llvm::SmallVector<std::int64_t, 2>> slots_;
};

} // namespace tandem
