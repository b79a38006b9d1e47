// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a declaration promises of a function, in the words of gcc's transactional memory (C++
// transactional language constructs 1.1, section 8): transaction_pure, transaction_unsafe. What
// the other attributes promise is found out, not taken from them.
#pragma once

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace tandem {

// Annotations that clang's plugin makes of the attributes (compiler/attribute).
inline constexpr const char *kPureAnnotation = "tandem.transaction_pure";
inline constexpr const char *kUnsafeAnnotation = "tandem.transaction_unsafe";

// Reads the annotations of the module's functions, for is_pure() and is_unsafe().
void read_promises(llvm::Module &module);

// Forgets what `function`, which was made of a part of another, has of these.
void drop_promises(llvm::Function &function);

// Runs in transactions as it is: without barriers, and not undone. What it touches counts for
// conflicts; whether it can be undone is the programmer's business.
bool is_pure(const llvm::Function &function);

// Runs in no transaction that can be undone.
bool is_unsafe(const llvm::Function &function);

} // namespace tandem
