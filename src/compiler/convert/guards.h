// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Locks of the C++ library (libstdc++): std::mutex, std::shared_mutex and their like are pthread's
// locks, and std::condition_variable is pthread's condition, behind member functions of headers.
// What uses them is brought to calls of the pthread library in the program's own functions, where
// they can be converted as those of C.
#pragma once

#include "compiler/sections/lock_calls.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Module.h"

#include <string>

namespace tandem {

// The program's use of such locks, as it was before that.
struct LibraryLocks {
  bool converted = false; // a section names one
  std::string recursive;  // where one is used that its owner may lock again; empty: nowhere
};

// Puts the library's functions on locks, guards and conditions into the program's functions that
// call them, which then have what the guards held as values. What is put in has the source place of
// the call. What cannot be put in stays as it is: std::lock and std::scoped_lock of several
// locks, std::condition_variable_any, and guards that are handed to other functions.
void take_guards_apart(llvm::Module &module);

// What has become constant in these functions is folded, and guards become values. Of those that
// come to throw nothing, calls do not, either: constructors of the program's guards are some.
void fold_guards(llvm::ArrayRef<llvm::Function *> functions);

// Whether a wrapper of acquisitions may throw although it gets its lock: before it asks for it, or
// with it held. Looks at a copy of the wrapper, which is gone when this returns.
bool throws_with_lock(const llvm::Function &wrapper, const LockCalls &calls);

} // namespace tandem
