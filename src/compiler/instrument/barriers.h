// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory barriers of libitm's ABI (LIBITM_1.0; GCC's libitm manual, "The TM runtime library
// interface"): every access of a transactional clone to memory that others may see becomes a call.
#pragma once

#include "compiler/report/report.h"

#include "llvm/ADT/SmallPtrSet.h"
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
  // Whether it is a counter of coverage or profiling: statistics that no one else's result depends
  // on and that count attempts, too.
  static bool is_counter(const llvm::Value *address);

  // Marks a load of memory that no transaction writes: it needs no barrier, in copies of it
  // neither.
  static void mark_unwritten(llvm::LoadInst &load);

  // Accesses that need no barrier, besides those above: memory that the transaction has captured.
  // Of a copy it is what one of the two addresses points to, or both.
  struct Plain {
    llvm::SmallPtrSet<const llvm::Instruction *, 8> written; // of stores, memset and copies
    llvm::SmallPtrSet<const llvm::Instruction *, 8> read;    // of loads and copies
  };
  // Of the function that is instrumented next.
  void set_captured(Plain plain) { captured_ = std::move(plain); }

  // Replace one access by its barrier and erase it, unless it needs none. The instruction is not
  // atomic.
  void replace_load(llvm::LoadInst &load);
  void replace_store(llvm::StoreInst &store);
  void replace_copy(llvm::MemTransferInst &copy);
  void replace_set(llvm::MemSetInst &set);
  // The call copies what this argument of it points to (`byval`): it gets a copy that a barrier
  // made.
  void replace_by_value(llvm::CallBase &call, unsigned argument);

  // What became of all accesses so far: `barriers`, `plain`, `captured`, `unwritten`, `counters`.
  [[nodiscard]] const ReportInstrumentation &counts() const { return counts_; }

private:
  bool stays_plain(const llvm::Value *address, bool captured);
  llvm::FunctionCallee function(llvm::StringRef name, llvm::Type *result,
                                llvm::ArrayRef<llvm::Type *> arguments);
  // The barrier's suffix for values of `type` (U1 to U8, F, D), or empty: then it is copied as
  // bytes.
  llvm::StringRef suffix(llvm::Type *type) const;
  llvm::AllocaInst *temporary(llvm::Function &function, llvm::Type *type);

  llvm::Module &module_;
  Plain captured_;
  ReportInstrumentation counts_;
};

} // namespace tandem
