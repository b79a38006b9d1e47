// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Access paths: an address in the IR as its programmer would write it (`stats.total_conns`,
// `item_locks[]`, `c->thread->stats.mutex`), from debug information. Every array index reads `[]`.
//
// A path is a name, not an identity: two equal paths in one function may denote different objects
// (the variable was assigned in between) and one object may have several paths. Whoever needs
// soundness asks the effects, not the paths.
#pragma once

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Value.h"

#include <cstdint>
#include <string>

namespace tandem {

struct AccessPath {
  std::string text;                   // see deref
  bool deref = false;                 // the object is `*text`, and a field of it `text->field`
  const llvm::DIType *type = nullptr; // the object's type, where debug information tells
  // The variable at the root, where it outlives every call of the function: then the path has the
  // same meaning in every function.
  const llvm::GlobalVariable *global = nullptr;
  // `*text` is the object of a member function, of this class: that and its fields go by the class,
  // what a lambda has captured by its own name. Null: it is not.
  const llvm::DICompositeType *self = nullptr;
  bool captured = false; // `text` is what a lambda has captured

  // The object as source text.
  [[nodiscard]] std::string print() const;
};

// The object of `size` bytes at `address` (an IR pointer), `offset` bytes further. At a struct's
// first byte the size decides whether the struct or its first field is meant; 0: the outermost
// object.
AccessPath access_path(const llvm::Value *address, std::uint64_t size, std::int64_t offset = 0);

// What the caller gave, where `value` reads a parameter of a function that was put into it; else
// `value`.
const llvm::Value *given(const llvm::Value *value);

// Whether the record is a class of C++'s, as far as debug information tells.
bool is_class(const llvm::DICompositeType &record);

// Whether a type is a lock, a condition or the like of a library: its insides are not the program's
// business, and paths stop at it.
bool is_opaque_type(const llvm::DIType *type);

// The record's name, in C++ with the namespaces and classes that it is in. Empty where neither it
// nor what it is in has one. `full`: template arguments too; else long ones read `...`.
std::string record_path(const llvm::DICompositeType &record, bool full);

// The name that the source gives a global variable or a function, qualified and demangled in C++.
std::string source_name(const llvm::GlobalObject &object);
// The same as messages have it (in_program_terms).
std::string shown_name(const llvm::GlobalObject &object);

} // namespace tandem
