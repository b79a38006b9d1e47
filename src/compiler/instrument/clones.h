// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transactional clones: for a function `f` that a transaction may run, `f.tandem.tm`, which
// accesses memory through barriers and calls clones. What cannot be undone makes the transaction
// serial and irrevocable first (libitm's _ITM_changeTransactionMode), then runs as it is.
//
// And `f.tandem.guarded_by`, for a transaction that has come to no locks but those that guard their
// data (Mode::guarded_by of runtime/transaction/guarded_by.h): plain accesses, with a log of what
// was there before each store. It ends where it would come to another lock.
#pragma once

#include "compiler/catalogue/catalogue.h"
#include "compiler/effects/actions.h"
#include "compiler/instrument/barriers.h"
#include "compiler/instrument/simplify.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <array>
#include <utility>

namespace tandem {

// Of every clone.
inline constexpr const char *kTransactionalAttribute = "tandem-transactional";

// Of what a transaction runs in place of a function.
enum class Version : std::uint8_t { transactional, guarded_by };

class TransactionalClones {
public:
  // `actions` and `catalogue` outlive this object; `actions` describes the module as it is now.
  // `inlines`: as of Barriers.
  TransactionalClones(llvm::Module &module, const Actions &actions, const Catalogue &catalogue,
                      bool inlines);

  // Declares that calls of `called` within a transaction run the clone of `body`, a function of the
  // same type: how a section's wrapper leads to its body. Before instrument().
  void stands_for(llvm::Function &called, llvm::Function &body);

  // Declares that transactions call `called` itself: it begins a nested one. Before instrument().
  void nests(llvm::Function &called) { nesting_.insert(&called); }

  // Whether `function` can be cloned: not where its blocks' addresses are taken (computed goto),
  // since tables of them lead into the original, and no coroutine, whose locals are in a frame that
  // outlives the call, where no barrier guards them. A transaction that calls it becomes
  // irrevocable first.
  [[nodiscard]] bool can_clone(const llvm::Function &function) const;

  // The clone that a transaction runs for `function`; made when first asked for, instrumented
  // later. Of one that nests, itself.
  llvm::Function &clone_of(llvm::Function &function, Version version = Version::transactional);

  // Says that a section may run the function. Others get no clone that transactions find by its
  // address: a section of another output, which may have the address, runs them irrevocably.
  static void mark_reached(llvm::Function &function);

  // Instruments every clone that was asked for and those that they need, then emits the table in
  // which the runtime finds clones by address.
  void instrument();

  // What has been made so far.
  [[nodiscard]] ReportInstrumentation counts() const;

private:
  // What a transaction calls that calls `function` by a pointer.
  llvm::Function &version_for_pointers(llvm::Function &function);
  bool makes_fresh_memory(const llvm::CallBase &call, Version version);
  void find_captured(llvm::Function &clone, Version version);
  void instrument(llvm::Function &clone, Version version);
  void instrument(llvm::Instruction &instruction, Version version);
  void instrument_access(llvm::Instruction &instruction);
  void log_write(llvm::Instruction &instruction);
  void instrument_call(llvm::CallBase &call, Version version);
  void become_irrevocable(llvm::Instruction &before);
  void prepare(const llvm::CallBase &original, llvm::CallBase &copy);
  void emit_table();

  llvm::Module &module_;
  const Actions &actions_;
  const Catalogue &catalogue_;
  Barriers barriers_;
  Simplifier simplifier_;
  std::uint64_t irrevocable_ = 0;                                             // places
  std::array<llvm::MapVector<llvm::Function *, llvm::Function *>, 2> clones_; // by version
  llvm::DenseMap<const llvm::Function *, llvm::Function *> bodies_;
  llvm::SmallPtrSet<const llvm::Function *, 8> nesting_;
  llvm::SmallVector<std::pair<llvm::Function *, Version>> work_;
  llvm::SetVector<llvm::Function *> called_by_pointer_;
  std::array<llvm::DenseMap<const llvm::Function *, bool>, 2>
      fresh_;                // by version: whether clones of these return captured memory
  std::uint64_t merged_ = 0; // accesses that simplification took out
};

} // namespace tandem
