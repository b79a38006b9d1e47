// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that acquire and release locks, seen through thin wrappers and guards: a function that does
// nothing but acquire (or release) locks stands for the operation, and its callers are the sites.
// So do the constructors and destructors of guards, of the C++ library and of the program: their
// lock is the one that the guard was made with.
#pragma once

#include "compiler/sections/lock_functions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <optional>
#include <string>
#include <vector>

namespace tandem {

struct LockSite {
  // An object, seen from a value of the calling function; offsets as in Origin.
  struct Target {
    const llvm::Value *base = nullptr;
    llvm::SmallVector<std::int64_t, 3> offsets;
  };

  const llvm::CallBase *call = nullptr;
  LockOperation operation = LockOperation::lock;
  std::vector<std::string> locks; // their access paths; several for std::lock and scoped_lock
  std::vector<const llvm::GlobalVariable *> roots; // of each: the variable it begins with, or null
  std::string primitive;                           // as ReportRegion::primitive
  bool shared = false;                             // a reader's
  bool guard = false; // unlock: by a guard's destructor, if it still holds the lock
  bool empty = false; // unlock: by a guard's destructor, and the guard has given its lock away
  bool own = false;   // unlock: of what a trylock in the same function returned
  bool named = false; // the paths are rooted in global variables: they mean the same everywhere
  const llvm::Function *wrapper = nullptr; // the wrapper called, or null
  Acquired acquired = Acquired::zero;      // the result that means success
  bool runs_code = false;                  // the call runs code of the program under the lock
  std::uint64_t size = 0;                  // of a lock, bytes; 0: unknown
  std::vector<Target> targets;             // one for each of locks
  std::vector<Target> resolved;            // the same, through the guards that the function makes
};

// A call that wakes waiters.
struct SignalSite {
  const llvm::CallBase *call = nullptr;
  std::string condition; // its access path
  std::string primitive;
};

class LockCalls {
public:
  explicit LockCalls(const llvm::Module &module);

  // The site that `call` is, if it is one.
  [[nodiscard]] const LockSite *at(const llvm::Instruction &instruction) const;
  // Whether the function stands for the operation that it does, or belongs to the C++ library.
  [[nodiscard]] bool is_wrapper(const llvm::Function &function) const {
    return wrappers_.contains(&function) || library_.contains(&function);
  }
  // The sites of a function in program order.
  [[nodiscard]] std::vector<const LockSite *> sites(const llvm::Function &function) const;
  // In the module's order.
  [[nodiscard]] const std::vector<SignalSite> &signals() const { return signals_; }
  // The guard that `instruction` asks whether it holds its lock; null where it does not.
  [[nodiscard]] const llvm::Value *tested_guard(const llvm::Instruction &instruction) const {
    return tests_.lookup(&instruction);
  }

private:
  using Target = LockSite::Target;
  struct Wrapper {
    LockFunction does;
    std::vector<Target> own; // its locks, where they are no arguments of it
  };
  void find_library_calls(const llvm::Module &module);
  bool find_wrapper(const llvm::Function &function);
  const LockSite *only_site(const llvm::Function &function, bool &pauses) const;
  void find_bindings(const llvm::Function &function);
  // `targets` are a wrapper's own locks, if it has any.
  void apply(const llvm::CallBase &call, const LockFunction &does, std::vector<Target> targets,
             const llvm::Function *wrapper);
  void name_by_trylock();
  // The lock behind `target`, through the guards that `function` makes.
  [[nodiscard]] Target resolve(Target target, const llvm::Function &function) const;
  [[nodiscard]] std::optional<Target> bound_to(const llvm::Value &guard, std::int64_t offset,
                                               const llvm::Function &function) const;
  void set_paths(LockSite &site) const;

  llvm::DenseMap<const llvm::Instruction *, LockSite> sites_;
  llvm::DenseMap<const llvm::Instruction *, const llvm::Value *> tests_;
  llvm::DenseMap<const llvm::Function *, Wrapper> wrappers_;
  llvm::DenseMap<const llvm::Function *, std::vector<Binding>> bindings_;
  llvm::DenseSet<const llvm::Function *> library_;
  // Guards of a function that give their lock away somewhere in it.
  llvm::DenseMap<const llvm::Function *, std::vector<const llvm::Value *>> disowned_;
  std::vector<SignalSite> signals_;
};

} // namespace tandem
