// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What instructions do, as far as it can be told from the instruction and the catalogue alone:
// what cannot be undone, what only computes, and where a call may lead at worst.
#pragma once

#include "compiler/catalogue/catalogue.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tandem {

// Whether an intrinsic neither touches memory that others may see nor does what cannot be undone:
// LLVM's own attributes say so, or it is one that LLVM counts as an access to keep its place. The
// memory intrinsics (memcpy and the like) and operations on lists are not harmless; what is neither
// of these is irrevocable.
bool is_harmless(const llvm::IntrinsicInst &intrinsic);

// Memory that an operation on a list of variable arguments writes and reads.
struct ListOperation {
  llvm::Value *written;
  llvm::Value *read; // null: va_start, which reads none
  std::uint64_t bytes;
};
// Of va_start and va_copy, where the target's va_list is known; nothing of others.
std::optional<ListOperation> list_operation(const llvm::Instruction &instruction);

class Actions {
public:
  // Both outlive this object; the module may change, its functions with an address taken may not.
  Actions(const llvm::Module &module, const Catalogue &catalogue);

  // What an instruction does that cannot be undone, beside what functions of the program do that it
  // calls:
  // the callee's name, "(inline assembly)", "(atomic operation)", "(volatile access)",
  // "(indirect call)"; an access of memory that no barrier is known for: "(other address space)",
  // or LLVM's name of it; empty if it can be. Copies and fills that are intrinsics are called by
  // the function of C's library that they stand for, unless they copy a structure (as TBAA has it)
  // or touch the function's own memory only. A function of the program that another source file
  // defines is one of these where the catalogue has "(other source file)" so.
  [[nodiscard]] std::string irrevocable_action(const llvm::Instruction &instruction) const;
  // The same for a call that enters `callee`, which the program does not define; no intrinsic.
  [[nodiscard]] std::string irrevocable_call(const llvm::CallBase &call,
                                             const llvm::Function &callee) const;

  // Whether no execution of `function` touches memory that others may see or performs an
  // irrevocable action: it computes from its arguments alone.
  [[nodiscard]] bool computes_only(const llvm::Function &function) const;

  // Whether the catalogue has atomic operations as what cannot be undone.
  [[nodiscard]] bool holds_atomics() const { return is_irrevocable(kAtomicOperation); }
  // Says of an atomic operation, and of copies of it, that it cannot be undone.
  static void mark_mixed(llvm::Instruction &atomic);

  // Functions of the program that a call may run, by their types alone.
  [[nodiscard]] std::vector<const llvm::Function *> targets(const llvm::CallBase &call) const;

private:
  [[nodiscard]] bool computes_only(const llvm::Instruction &instruction) const;
  [[nodiscard]] std::string irrevocable_copy(const llvm::AnyMemIntrinsic &intrinsic) const;
  [[nodiscard]] bool is_irrevocable(std::string_view name) const;

  const Catalogue &catalogue_;
  const bool copies_;   // whether the catalogue makes copies or fills irrevocable
  const bool volatile_; // and accesses to volatile variables
  const bool others_;   // and calls of functions that other source files define
  std::vector<const llvm::Function *> address_taken_;
};

} // namespace tandem
