// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Captured memory: what a transaction has allocated itself and told nobody of yet. Nobody else
// reads it, and an abort gives it back, so that it needs neither barriers nor an undo log
// (Dragojevic, Ni, Adl-Tabatabai, "Optimizing transactions for captured memory", SPAA 2009).
//
// Once another function, or memory, knows the address, accesses go through barriers: others do so
// too then, and a runtime that buffers writes must see all of them. Not for frames: a buffer may
// still have what a frame before held at the same address.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

#include <functional>

namespace tandem {

// Whether the result of a call is memory that the transaction has just allocated and that only the
// caller knows.
using IsFresh = std::function<bool(const llvm::CallBase &)>;

// Marks an argument that points to memory which the caller has allocated by malloc for this call
// alone and has told nobody of: it is captured as if the function had allocated it, in copies of
// the function, too. What an attempt has left in it when the next one begins is no more than what
// malloc may leave there.
void mark_fresh(llvm::Argument &argument);

// Of one function that is not instrumented yet.
class Captured {
public:
  Captured(llvm::Function &function, IsFresh is_fresh);

  // Whether an access to `address` by `at` touches memory that the function has allocated, or its
  // caller for it, before its address is known elsewhere.
  bool holds(const llvm::Value *address, const llvm::Instruction &at);

private:
  const llvm::SmallVector<const llvm::Instruction *, 4> &escapes_of(const llvm::Value &root);
  bool may_precede(const llvm::Instruction &escape, const llvm::Instruction &at,
                   const llvm::CallBase &root);

  llvm::DominatorTree tree_;
  IsFresh is_fresh_;
  llvm::DenseMap<const llvm::Value *, llvm::SmallVector<const llvm::Instruction *, 4>> escapes_;
};

// Whether all that `function` returns is memory that it has allocated and that nobody else knows,
// or null; and all it wrote there, it wrote where Captured holds.
bool returns_captured(const llvm::Function &function, const IsFresh &is_fresh);

} // namespace tandem
