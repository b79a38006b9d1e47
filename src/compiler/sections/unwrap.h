// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lock wrappers that do more than their operation: functions that return with a lock held, release
// one that their caller holds, or wait with it, and log, count or check besides. Each is put into
// its callers, so that regions are what the callers wrote, whatever shape the wrapper has, and
// analysis and conversion look at one program. So are functions that create or join a thread which
// their caller names, and calls of lock operations through a table that never changes call them by
// name. What the program does stays the same.
//
// Wrappers that do nothing else are not touched: LockCalls sees through them.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace tandem {

// Changes the module; what was changed: the names of the functions that were put into callers, in
// order, and "a table". Functions for which `keep` is true stay.
std::vector<std::string> unwrap_locks(llvm::Module &module,
                                      llvm::function_ref<bool(const llvm::Function &)> keep);

// Where the program operates on a lock at `call`: of an operation that came from a wrapper, where
// that was called. Null without debug information.
const llvm::DILocation *operation_place(const llvm::Instruction &call);

// Whether no code of the program writes to a variable: calls through such a table have names.
bool never_changes(const llvm::GlobalVariable &variable);

// Why a function cannot be put into all of its callers, as the end of a sentence about the
// function; empty where it can.
std::string why_not_unwrapped(const llvm::Function &function);

} // namespace tandem
