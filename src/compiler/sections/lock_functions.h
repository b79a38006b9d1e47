// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lock operations of the C and C++ libraries: pthread mutexes, rwlocks, spinlocks and condition
// variables, C11's, and std's mutexes, guards and condition variables (libstdc++ and libc++).
// Semaphores are no locks.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tandem {

enum class LockOperation { lock, trylock, wait, unlock };

// Which value of an operation's result means "acquired"; always: it does not tell.
enum class Acquired { zero, nonzero, minus_one, always };

// An object, seen from a function's argument: add offsets[0] bytes, load a pointer, add offsets[1],
// and so on; so one offset means that the argument points into the object.
struct Origin {
  unsigned argument = 0;
  llvm::SmallVector<std::int64_t, 3> offsets{0};
};

// A function stores the address of an object in one of its argument's fields: a guard its mutex.
struct Binding {
  Origin field; // where: the last offset is the field's
  Origin value;
  // Not null: `value` is seen from this variable instead of an argument.
  const llvm::GlobalVariable *variable = nullptr;
  bool unknown = false; // whatever: `value` says nothing
};

// What a function does with locks.
struct LockFunction {
  // None: it only binds a guard, or tests one.
  std::optional<LockOperation> operation;
  std::vector<Origin> locks;
  std::vector<Binding> bindings;
  std::string primitive;  // as ReportRegion::primitive
  bool shared = false;    // a reader's
  std::uint64_t size = 0; // bytes of the lock; 0: unknown. Tells it apart from what it lies in
  Acquired acquired = Acquired::zero;
  bool signals = false;  // wakes waiters; `locks` is the condition variable
  bool destroys = false; // a guard: it releases only what the guard holds
  // The argument that is a guard, which holds nothing afterwards.
  std::optional<unsigned> disowns;
  bool tests = false;     // answers whether the guard, argument 0, holds its lock
  bool runs_code = false; // calls back with the lock held (a wait's predicate)
};

// What the library's function of that name does; nothing where it has no lock to do with. A
// function of C that the program defines itself is not the library's.
std::optional<LockFunction> lock_function(const llvm::Function &function);

// The argument that is the address of the lock which a function of the libraries acquires: behind
// the call it is not null. Nothing for other functions.
std::optional<unsigned> acquired_argument(const llvm::Function &function);

// Whether the function belongs to the C++ library: what it does with locks inside is its own.
bool is_library_function(const llvm::Function &function);

// std::array's operator[]: the element of argument 0 with the number argument 1.
bool is_element_of_array(const llvm::Function &function);

// Functions of std that return their argument: std::move, std::forward, std::addressof.
bool returns_its_argument(const llvm::Function &function);

// Whether a function is a C++ constructor, or a constructor or destructor, by its mangled name.
bool is_constructor(const llvm::Function &function);
bool is_constructor_or_destructor(const llvm::Function &function);

} // namespace tandem
