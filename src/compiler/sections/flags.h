// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Local flags: variables of a function that are only ever loaded, stored and compared, such as
// `bool locked`, and those by which the compiler remembers where to go on after a scope's clean-up;
// values that control flow chooses among constants, such as `a && b` or `i ? 0 : 1`; and conditions
// that are asked again for other operations.
// What is known of their values tells which way a branch on one goes.
#pragma once

#include "compiler/sections/changes.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tandem {

class Flags {
public:
  struct Value {
    enum class Kind : unsigned char { unknown, nonzero, constant } kind = Kind::unknown;
    std::int64_t constant = 0;
    auto operator<=>(const Value &) const = default;
  };
  using Values = std::vector<Value>;

  // The compiler's own flags of `function`; with `calls` also the program's, those that decide
  // whether one of the lock operations in it runs. Without `changes` only the function's own
  // stores, by an address that is computed alike, are taken to change what a condition reads: for
  // advice. `changes` is not kept.
  Flags(const llvm::Function &function, const LockCalls *calls, Changes *changes = nullptr);

  [[nodiscard]] bool empty() const { return count_ == 0; }

  // What is known before `instruction`, from what its block and those that lead only to it do.
  [[nodiscard]] Values before(const llvm::Instruction &instruction) const;

  // What `instruction` makes of `values`.
  void apply(const llvm::Instruction &instruction, Values &values) const;

  // The values on the way from `branch` to its successor `number`; nothing where `values` say that
  // it does not go there.
  [[nodiscard]] std::optional<Values> follow(const llvm::Instruction &branch, unsigned number,
                                             const Values &values) const;

  // Why a condition that decides about lock operations is not, or not always, taken to be the same
  // when it is asked again: what changes it, in `body`, or in another thread. Empty: nothing does.
  [[nodiscard]] std::string doubt(llvm::ArrayRef<const llvm::Instruction *> body) const;

private:
  struct Test {
    unsigned flag;
    std::int64_t constant; // what it is compared with
    bool equal_if_true;
  };
  void keep_deciding(const llvm::Function &function, const LockCalls *calls);
  // Values where the flag is, or is not, that constant; nothing where that cannot be.
  static std::optional<Values> refine(Values values, unsigned flag, std::int64_t constant,
                                      bool equal);
  [[nodiscard]] std::optional<unsigned> loaded_flag(const llvm::Value *value,
                                                    const llvm::Instruction &at) const;
  [[nodiscard]] std::optional<Test> test_of(const llvm::Value *condition,
                                            const llvm::Instruction &at) const;
  [[nodiscard]] std::optional<unsigned> flag_of(const llvm::Value *address) const;

  // A condition that decides about lock operations in several places, such as `threads > 1`: a flag
  // that is set by the branch that asks first, and no longer known behind what may write what it
  // reads.
  struct Condition {
    const llvm::Value *value;
    unsigned flag;
    std::vector<const llvm::LoadInst *> reads;
  };
  using Branches = std::vector<std::pair<const llvm::BranchInst *, bool>>; // is it the opposite?
  [[nodiscard]] const llvm::Value *tested(const llvm::BranchInst &branch, bool &passes_on) const;
  void find_conditions(const llvm::Function &function, const LockCalls &calls, Changes *changes);
  [[nodiscard]] bool keep_condition(const llvm::BranchInst &first, Branches &others,
                                    const LockCalls &calls, Condition &condition, Changes *changes);

  // follow() without what the successor's own choices are.
  [[nodiscard]] std::optional<Values> decide(const llvm::Instruction &branch, unsigned number,
                                             const Values &values) const;

  llvm::DenseMap<const llvm::Value *, unsigned> flags_; // variables, and phi nodes
  std::vector<Condition> conditions_;
  // Branches on them: the condition's number, and whether it is the opposite.
  llvm::DenseMap<const llvm::Instruction *, std::pair<unsigned, bool>> asks_;
  llvm::DenseMap<const llvm::BasicBlock *, std::vector<std::pair<const llvm::PHINode *, unsigned>>>
      choices_;
  // Instructions that may write what conditions read, with the numbers of these.
  llvm::DenseMap<const llvm::Instruction *, llvm::SmallVector<unsigned, 2>> changes_;
  std::string refused_; // why the first condition that is not followed is not
  unsigned count_ = 0;
};

} // namespace tandem
