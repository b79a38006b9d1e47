// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Effects: which memory a section may read and write, and which irrevocable actions it may reach,
// over the whole program.
//
// Memory is divided into the program's global variables, byte range by byte range where the offset
// is constant, and one location for everything that is reached through pointers: `(memory)`. A
// global whose address is used other than to access it (its address is *exposed*) overlaps
// `(memory)`; so does one that code outside the program can see. That is sound and imprecise; a
// points-to analysis divides `(memory)`.
#pragma once

#include "compiler/catalogue/catalogue.h"
#include "compiler/sections/section.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tandem {

inline constexpr std::uint32_t kMemoryObject = 0;

// A part of an object that an access may touch.
struct Location {
  std::uint32_t object = kMemoryObject; // kMemoryObject, or the number of a global variable, from 1
  std::uint64_t begin = 0;              // bytes [begin, end) of the object
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  bool exposed = true; // may also be reached through pointers
  std::string name;    // as in the source

  // Whether one address may lie in both.
  [[nodiscard]] bool overlaps(const Location &other) const {
    if (object == other.object)
      return begin < other.end && other.begin < end;
    return (object == kMemoryObject && other.exposed) || (other.object == kMemoryObject && exposed);
  }
};

// What one section may do. Numbers are indices of Effects::locations(), in ascending order.
struct SectionEffects {
  std::set<std::uint32_t> reads;
  std::set<std::uint32_t> writes;
  std::vector<ReportIrrevocable> irrevocable; // one per callee, with a shortest chain; by callee
  bool irrevocable_at_begin = false;          // every execution that returns performs one
  std::vector<const llvm::CallBase *> lock_operations; // reached inside a marked function
};

// Whether an intrinsic neither touches memory that others may see nor does what cannot be undone,
// although LLVM counts some of them as memory accesses to keep their place. The memory intrinsics
// (memcpy and the like) are not harmless.
bool is_harmless(const llvm::IntrinsicInst &intrinsic);

class Effects {
public:
  Effects(const llvm::Module &module, const Catalogue &catalogue);

  [[nodiscard]] SectionEffects of(const Section &section);
  [[nodiscard]] const std::vector<Location> &locations() const { return locations_; }

  // What an instruction that is not a call to a function of the program does that cannot be undone:
  // the callee's name, or "(inline assembly)", "(atomic operation)", "(indirect call)"; empty if it
  // can be.
  [[nodiscard]] std::string irrevocable_action(const llvm::Instruction &instruction) const;

  // Whether no execution of `function` touches memory that others may see or performs an
  // irrevocable action: it computes from its arguments alone.
  [[nodiscard]] bool computes_only(const llvm::Function &function);

  // Functions of the program that a call may run.
  [[nodiscard]] std::vector<const llvm::Function *> targets(const llvm::CallBase &call) const;

private:
  struct FunctionEffects {
    std::set<std::uint32_t> reads;
    std::set<std::uint32_t> writes;
    std::map<std::string, bool> irrevocable; // callee -> it is a lock operation
    std::vector<const llvm::Function *> callees;
    std::vector<const llvm::CallBase *> lock_operations;
  };

  void add_instruction(const llvm::Instruction &instruction, FunctionEffects &effects);
  void add_call(const llvm::CallBase &call, FunctionEffects &effects);
  void add_access(const llvm::Value *address, std::uint64_t size, bool reads, bool writes,
                  FunctionEffects &effects);
  const FunctionEffects &of_function(const llvm::Function &function);
  bool always_irrevocable(const llvm::Function &function, std::set<const llvm::Function *> &active);
  std::vector<const llvm::Function *> callbacks(const llvm::CallBase &call) const;
  bool exposed(const llvm::GlobalVariable &global);
  bool captured(const llvm::AllocaInst &slot);
  std::uint32_t location(const Location &location);
  std::uint32_t global_location(const llvm::GlobalVariable &global, const llvm::Value *address,
                                std::uint64_t size);

  const llvm::Module &module_;
  const Catalogue &catalogue_;
  std::vector<Location> locations_;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::string>, std::uint32_t>
      ids_;
  llvm::DenseMap<const llvm::GlobalVariable *, std::uint32_t> objects_;
  llvm::DenseMap<const llvm::GlobalVariable *, bool> exposed_;
  llvm::DenseMap<const llvm::AllocaInst *, bool> captured_;
  std::map<const llvm::Function *, FunctionEffects> functions_;
  std::map<const llvm::Function *, bool> always_irrevocable_;
  bool met_recursion_ = false; // in the current always_irrevocable()
  std::vector<const llvm::Function *> address_taken_;
};

} // namespace tandem
