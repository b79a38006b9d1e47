// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory barriers of libitm's ABI (LIBITM_1.0; GCC's libitm manual, "The TM runtime library
// interface"): every access of a transactional clone to memory that others may see becomes a call.
#pragma once

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace tandem {

class Barriers {
public:
  explicit Barriers(llvm::Module &module) : module_(module) {}

  // Whether every object that `address` may lie in is a variable of this function whose address
  // stays in it, or constant memory: then no one else sees the access and a restart finds a fresh
  // frame.
  static bool is_private(const llvm::Value *address);

  // Replace one access by its barrier and erase it. The instruction is not atomic.
  void replace_load(llvm::LoadInst &load);
  void replace_store(llvm::StoreInst &store);
  void replace_copy(llvm::MemTransferInst &copy);
  void replace_set(llvm::MemSetInst &set);

private:
  llvm::FunctionCallee function(llvm::StringRef name, llvm::Type *result,
                                llvm::ArrayRef<llvm::Type *> arguments);
  // The barrier's suffix for values of `type` (U1 to U8, F, D), or empty: then it is copied as
  // bytes.
  llvm::StringRef suffix(llvm::Type *type) const;
  llvm::AllocaInst *temporary(llvm::Function &function, llvm::Type *type);

  llvm::Module &module_;
};

} // namespace tandem
