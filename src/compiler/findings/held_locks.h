// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Held locks: which locks a thread holds at an instruction, of those that the instruction's
// function and its callees have acquired. Locks are told apart by class: a global variable, an
// array of locks as one, or the field of a struct type; a lock that is only known by a pointer
// belongs to the class that the pointer denotes, if that is one.
//
// A semaphore that begins with one counts as a lock. Paths through a function are told apart by its
// local flags.
//
// For advice, not for soundness: two locks of one class count as one, and what a function releases
// that its caller holds is known only by class.
#pragma once

#include "compiler/findings/targets.h"
#include "compiler/points_to/points_to.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tandem {

struct LockClass {
  std::string name; // as the source names the first of its locks
  bool many = true; // may be several locks: elements of an array, fields of several objects
  // Known only by a pointer that may denote locks of several classes, or of none.
  bool unknown = false;
  bool several = false;   // unknown, and known to be one of several variables
  bool semaphore = false; // no section is about it
  bool once = false;      // no lock: the control of a function that runs once
};

// What a call does with a semaphore: POSIX's, or the C++ library's.
enum class SemaphoreOperation { begin, wait, post };

// Whether the call lets one thread run a function, and all others wait for it: pthread_once,
// call_once of C11 and of C++.
bool is_once(const llvm::CallBase &call);
// Whether all uses of the function hand it to such calls, or it is the helper in the C++ library
// that calls what std::call_once was given.
bool is_for_once(const llvm::Function &function);
// The functions that such a call lets one thread run.
llvm::SmallVector<const llvm::Function *, 1> once_targets(const llvm::CallBase &call,
                                                          const PointsToAnalysis &points_to);

using LockSet = std::set<std::uint32_t>; // of classes

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

  [[nodiscard]] const std::vector<LockClass> &classes() const { return classes_; }
  // `site` is one of the LockCalls' that is not inside a wrapper.
  [[nodiscard]] const LockSet &classes_of(const LockSite &site) const;
  // The control of a call that is_once.
  [[nodiscard]] std::uint32_t class_of_once(const llvm::CallBase &call) const {
    return once_.at(&call);
  }
  // Whether locks of two classes may be one lock: they have the same memory.
  [[nodiscard]] bool may_be_one(std::uint32_t a, std::uint32_t b) const {
    return a == b || may_be_one_.contains({a, b});
  }

  // The states before the calls of a function, lock operations included, in program order; empty
  // where neither the function nor what it calls acquires a lock.
  struct At {
    const llvm::CallBase *call;
    HeldState held;
  };
  [[nodiscard]] llvm::ArrayRef<At> calls(const llvm::Function &function) const;

  // What the function has acquired at an instruction; nothing where no path leads there.
  [[nodiscard]] HeldState held_at(const llvm::Instruction &instruction) const;
  // Whether some path holds a lock at an instruction.
  [[nodiscard]] bool may_hold(const llvm::Instruction &instruction) const;

  // Whether a call of `function` may release a lock of the class that its caller holds.
  [[nodiscard]] bool may_release(const llvm::Function &function, std::uint32_t lock) const;
  // Locks that a call of the function returns with, on every path or on some.
  [[nodiscard]] const HeldState &returns_with(const llvm::Function &function) const;

private:
  struct Summary {
    HeldState at_return;
    LockSet released; // locks of its caller
    bool operator==(const Summary &) const = default;
  };
  struct FunctionLocks {
    Summary summary;
    llvm::DenseMap<const llvm::BasicBlock *, HeldState> before; // of blocks
    std::vector<At> calls;
  };

  void classify(const llvm::Module &module);
  void find_semaphores(const llvm::Module &module);
  void find_hidden(const llvm::Module &module);
  void propagate(const llvm::Module &module);
  FunctionLocks run(const llvm::Function &function) const;
  void summarise(const llvm::Function &function, FunctionLocks &result) const;
  void transfer(const llvm::Instruction &instruction, HeldState &state, LockSet &released) const;
  void call(const llvm::CallBase &call, HeldState &state, LockSet &released) const;
  // False: the way is not followed.
  bool edge(const llvm::BasicBlock &from, const llvm::BasicBlock &to, HeldState &state) const;

  const LockCalls &locks_;
  const PointsToAnalysis &points_to_;
  std::vector<LockClass> classes_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> may_be_one_;
  llvm::DenseMap<const llvm::Instruction *, LockSet> classes_of_; // of lock sites
  std::map<const llvm::CallBase *, std::uint32_t> once_;          // of calls that are once's
  // Calls that wait for, and post, semaphores that one thread at a time has.
  struct SemaphoreCall {
    SemaphoreOperation operation;
    std::uint32_t klass;
  };
  std::map<const llvm::CallBase *, SemaphoreCall> semaphores_;
  llvm::DenseSet<const llvm::CallBase *> hidden_; // calls that acquire inside a library's template
  std::uint32_t any_ = 0;                         // the class of what these acquire
  llvm::DenseMap<const llvm::Function *, std::vector<const LockSite *>>
      trylocks_; // and locks: their results are asked for
  std::map<const llvm::Function *, FunctionLocks> functions_; // those that matter
  // What calls of an array of functions do, as far as the summaries have got.
  struct Returned {
    std::size_t changes = 0; // as changes_ was
    HeldState after;
    LockSet released;
  };
  const Returned &returned_of(llvm::ArrayRef<const llvm::Function *> targets) const;
  mutable std::map<llvm::ArrayRef<const llvm::Function *>::iterator, Returned> returned_;
  std::size_t changes_ = 1; // of summaries
};

} // namespace tandem
