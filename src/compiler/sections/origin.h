// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a pointer in nearly unoptimised IR comes from.
#pragma once

#include "compiler/sections/lock_functions.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Value.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace tandem {

// The values that `value` may be, looking through casts and local variables; null pointers not
// counted.
void sources(const llvm::Value *value, llvm::SmallPtrSetImpl<const llvm::Value *> &found,
             unsigned depth = 0);

// The local variable that `pointer` is the address of, also where that went through another
// variable of its own, as a clean-up's parameter; null for anything else.
const llvm::AllocaInst *variable_at(const llvm::Value *pointer);

// The store of the one value that a local variable ever has, null pointers counted, where all that
// code does with its address is to load and store there; null where it may have others. A load
// reads that value where the store comes before it on every way.
const llvm::StoreInst *single_store(const llvm::AllocaInst &variable);

// The object that `address` points into, and how far; through casts, constant offsets, local
// variables that hold one pointer only, and functions that return their argument.
std::pair<const llvm::Value *, std::int64_t> base_of(const llvm::Value *address,
                                                     const llvm::DataLayout &layout);

// The argument of its function that `value` is computed from, by loads and constant offsets.
std::optional<Origin> origin_of(const llvm::Value *value, const llvm::DataLayout &layout,
                                unsigned depth = 0);

// Whether two values are computed by the same operations from the same constants, arguments,
// globals and memory, also where one of them went through a variable of its own. What the memory
// holds may differ, if it is written in between.
bool same_value(const llvm::Value &a, const llvm::Value &b);

// Whether two addresses of one function, with offsets behind them, are computed alike,
// as same_value() has it.
bool same_address(const llvm::Value &a, std::int64_t offset_of_a, const llvm::Value &b,
                  std::int64_t offset_of_b, const llvm::DataLayout &layout);

} // namespace tandem
