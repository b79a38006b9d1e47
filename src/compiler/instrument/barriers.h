// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory barriers of libitm's ABI (LIBITM_1.0; GCC's libitm manual, "The TM runtime library
// interface"): every access of a transactional clone to memory that others may see becomes a call.
#pragma once

#include "compiler/effects/actions.h"
#include "compiler/report/report.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace tandem {

// What the names of inlined accesses begin with (runtime/abi/inline_barriers.h).
inline constexpr const char *kInlinedAccess = "_TANDEM_inline_";

class Barriers {
public:
  // `inlines`: whether the common course of accesses may be inlined.
  Barriers(llvm::Module &module, bool inlines) : module_(module), inlines_(inlines) {}

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
  static bool is_unwritten(const llvm::LoadInst &load);

  // Marks an argument that points to a slot of the caller's for a result: only ever stored to, not
  // looked at before the function has returned, and written in every attempt that returns one. It
  // needs neither barrier nor undoing, in copies of the function neither.
  static void mark_result(llvm::Argument &argument);
  // Marks an argument that points to memory of the wrapper's which nobody writes: the list of a
  // variadic section's arguments.
  static void mark_list(llvm::Argument &argument);

  // Accesses that need no barrier, besides those above: memory that the transaction has captured.
  // Of a copy it is what one of the two addresses points to, or both.
  struct Plain {
    llvm::SmallPtrSet<const llvm::Instruction *, 8> written; // of stores, memset and copies
    llvm::SmallPtrSet<const llvm::Instruction *, 8> read;    // of loads and copies
  };
  // The function that is instrumented next.
  void start(llvm::Function &function, Plain captured);
  // Whether accesses of the function that is instrumented are inlined at `place`.
  [[nodiscard]] bool inlines_at(const llvm::BasicBlock &place) const;

  // Replace one access by its barrier and erase it, unless it needs none. The instruction is not
  // atomic.
  void replace_load(llvm::LoadInst &load);
  void replace_store(llvm::StoreInst &store);
  // The store adds to what was at its place, and nothing else looks at that: becomes an addition,
  // which the runtime may put off to the commit. `gone`: gets the instructions that are erased,
  // none where it is no such store.
  void replace_addition(llvm::StoreInst &store,
                        llvm::SmallPtrSetImpl<const llvm::Instruction *> &gone);
  void replace_copy(llvm::MemTransferInst &copy);
  void replace_set(llvm::MemSetInst &set);
  // va_start and va_copy.
  void replace_list(llvm::IntrinsicInst &call, const ListOperation &list);
  // For code of Mode::guarded_by (runtime/transaction/guarded_by.h), whose accesses stay as they
  // are: logs what the instruction is about to overwrite, unless only the transaction can see it.
  void log(llvm::StoreInst &store);
  void log(llvm::MemIntrinsic &write);
  void log(llvm::IntrinsicInst &call, const ListOperation &list);
  // The call copies what this argument of it points to (`byval`): it gets a copy that a barrier
  // made.
  void replace_by_value(llvm::CallBase &call, unsigned argument);

  // What became of all accesses so far: `barriers`, `plain`, `captured`, `unwritten`, `counters`,
  // `deferred_updates`.
  [[nodiscard]] const ReportInstrumentation &counts() const { return counts_; }

private:
  bool stays_plain(const llvm::Value *address, bool captured);
  void copy(llvm::IRBuilderBase &builder, const std::string &name, llvm::Value *to,
            llvm::Value *from, llvm::Value *bytes);
  // Accesses words as `type`, by the inline version of the call where the function has those and
  // the access is aligned.
  llvm::CallInst *access(llvm::IRBuilderBase &builder, const std::string &name, llvm::Type *result,
                         llvm::ArrayRef<llvm::Value *> arguments, bool aligned);
  // `inlined`: gets the thread as last argument.
  llvm::CallInst *call(llvm::IRBuilderBase &builder, const std::string &name, llvm::Type *result,
                       llvm::ArrayRef<llvm::Value *> arguments, bool inlined);
  void log_bytes(llvm::IRBuilderBase &builder, llvm::Value *address, llvm::Value *bytes);
  [[nodiscard]] bool is_aligned(llvm::Type *type, llvm::Align align) const;
  // The thread that runs the function.
  llvm::Value *thread();
  llvm::FunctionCallee function(llvm::StringRef name, llvm::Type *result,
                                llvm::ArrayRef<llvm::Type *> arguments);
  // The barrier's suffix for values of `type` (U1 to U8), or empty: then it is copied as
  // bytes.
  llvm::StringRef suffix(llvm::Type *type) const;
  // The integer of the same width.
  [[nodiscard]] llvm::Type *bits(llvm::Type *type) const;
  llvm::AllocaInst *temporary(llvm::Function &function, llvm::Type *type);

  llvm::Module &module_;
  const bool inlines_;
  Plain captured_;
  llvm::Function *function_ = nullptr;                      // that is being instrumented
  llvm::SmallPtrSet<const llvm::BasicBlock *, 32> inlined_; // blocks whose accesses of words are
  llvm::SmallPtrSet<const llvm::BasicBlock *, 32> usual_;   // all that are not rare
  llvm::Value *thread_ = nullptr;
  std::uint64_t made_ = 0; // inlined accesses of the output
  ReportInstrumentation counts_;
};

} // namespace tandem
