// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Held locks: which locks a thread holds at an instruction, of those that the instruction's
// function and its callees have acquired, by class. Paths through a function are told apart by its
// local flags.
//
// For advice, not for soundness: what a function releases that its caller holds is known only by
// class.
#pragma once

#include "compiler/findings/lock_classes.h"
#include "compiler/findings/targets.h"
#include "compiler/points_to/points_to.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

namespace tandem {

struct HeldState {
  LockSet must;   // on every path
  LockSet may;    // on some path
  LockSet shared; // of these, on some path as a reader only
  LockSet once;   // controls of functions that have run once, on every path
  bool operator==(const HeldState &) const = default;
};

class HeldLocks {
public:
  HeldLocks(const llvm::Module &module, const LockCalls &locks, const PointsToAnalysis &points_to);

  [[nodiscard]] const std::vector<LockClass> &classes() const { return classes_.all(); }
  // `site` is one of the LockCalls' that is not inside a wrapper.
  [[nodiscard]] const LockSet &classes_of(const LockSite &site) const { return classes_.of(site); }
  // The control of a call that is_once.
  [[nodiscard]] std::uint32_t class_of_once(const llvm::CallBase &call) const {
    return classes_.once().at(&call);
  }
  // Whether locks of two classes may be one lock: they have the same memory.
  [[nodiscard]] bool may_be_one(std::uint32_t a, std::uint32_t b) const {
    return classes_.may_be_one(a, b);
  }

  // The states before the calls of a function, lock operations included, in program order; empty
  // where neither the function nor what it calls acquires a lock.
  struct At {
    const llvm::CallBase *call;
    const HeldState *held; // as long as this object
  };
  [[nodiscard]] llvm::ArrayRef<At> calls(const llvm::Function &function) const;

  // What the function has acquired at an instruction; nothing where no path leads there.
  [[nodiscard]] const HeldState &held_at(const llvm::Instruction &instruction) const;
  // Whether some path holds a lock at an instruction.
  [[nodiscard]] bool may_hold(const llvm::Instruction &instruction) const;

  // Whether a call of `function` may release a lock of the class that its caller holds.
  [[nodiscard]] bool may_release(const llvm::Function &function, std::uint32_t lock) const;
  // Locks that a call of the function returns with, on every path or on some.
  [[nodiscard]] const HeldState &returns_with(const llvm::Function &function) const;

private:
  // What an operation on a lock, or a call of one of some functions, does.
  struct Effect {
    HeldState after;
    LockSet released;    // locks that were held before
    bool itself = false; // an operation: what it releases is held on no path afterwards
    bool operator==(const Effect &) const = default;
  };
  struct Step {
    const llvm::CallBase *call;
    const Effect *effect;
  };
  struct Block {
    std::size_t first; // of calls
    std::size_t count;
    const HeldState *end; // before the terminator, or after it
  };
  struct FunctionLocks {
    Effect effect;                                              // of a call
    llvm::DenseMap<const llvm::BasicBlock *, HeldState> before; // of blocks; until it is listed
    llvm::DenseMap<const llvm::BasicBlock *, Block> blocks;     // those that a path leads to
    std::vector<At> calls;
    std::deque<HeldState> states; // of calls and blocks
  };
  struct Body;
  class Propagation;

  void find_operations(const llvm::Module &module); // on locks
  void find_other_operations();                     // on what counts as one
  void find_trylocks(const llvm::Module &module);
  void propagate(const llvm::Module &module);
  // What the call does; null: nothing to locks.
  [[nodiscard]] const Effect *effect_of(const llvm::CallBase &call) const;
  // What a call of one of the functions does, as far as is known.
  [[nodiscard]] Effect effect_of(llvm::ArrayRef<const llvm::Function *> targets) const;
  static void apply(const Effect &effect, HeldState &state, LockSet *released);
  void run(const llvm::Function &function, const Body &body, FunctionLocks &result) const;
  // Fills in what follows from the states before blocks.
  void list(const llvm::Function &function, FunctionLocks &result) const;

  const LockCalls &locks_;
  const PointsToAnalysis &points_to_;
  const LockClasses classes_;
  llvm::DenseMap<const llvm::Function *, std::vector<const LockSite *>>
      trylocks_; // and locks: their results are asked for
  std::map<const llvm::CallBase *, Effect> operations_;
  std::map<const llvm::Function *const *, Effect> entered_;   // by array of functions
  std::map<const llvm::Function *, FunctionLocks> functions_; // those that matter
};

} // namespace tandem
