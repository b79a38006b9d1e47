// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// BarrierRounds: how often a thread has waited at one when it comes to an instruction. All threads
// that wait at a barrier have done so as often, so two of them are never at places where the
// numbers differ. Numbers are congruences, so that what each round of a loop does is known in all
// of them.
//
// For advice, not for soundness: as many threads are taken to wait as the barrier is made for,
// unless both numbers are in the text and differ.
// Source of the domain: Granger, Static analysis of arithmetical congruences, 1989.
#pragma once

#include "compiler/points_to/points_to.h"
#include "compiler/sharing/sharing.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace tandem {

class BarrierRounds {
public:
  // All arguments outlive this object.
  BarrierRounds(const llvm::Module &module, const PointsToAnalysis &points_to,
                const Sharing &sharing);

  // Whether a barrier keeps a thread of entry `a` at one instruction apart from one of entry `b` at
  // the other.
  [[nodiscard]] bool keep_apart(std::uint32_t a, const llvm::Instruction &at, std::uint32_t b,
                                const llvm::Instruction &other) const;

  // Whether a function, or what it calls, may wait at a barrier.
  [[nodiscard]] bool matter_in(const llvm::Function &function) const {
    return does_.contains(&function);
  }

private:
  // A variable, and bytes from its begin.
  using Object = std::pair<const llvm::GlobalVariable *, std::int64_t>;
  // The numbers that leave `rest` when they are divided by `modulus`; modulus 0: `rest` itself.
  struct Waits {
    std::uint32_t rest = 0;
    std::uint32_t modulus = 0;
    bool operator==(const Waits &) const = default;
  };
  using State = std::vector<Waits>; // by barrier

  void find(const llvm::Module &module);
  void find_waiting(const llvm::Module &module);
  void check_counts(const llvm::Module &module, const Sharing &sharing);
  void follow(std::uint32_t entry, const llvm::Function &begin);
  bool run(const llvm::Function &function);
  void step(const llvm::Instruction &instruction, State &state) const;
  [[nodiscard]] State at(std::uint32_t entry, const llvm::Instruction &instruction) const;
  static Waits sum(Waits a, Waits b);
  static Waits either(Waits a, Waits b);
  static bool differ(Waits a, Waits b);
  static bool merge(State &into, const State &other);

  const PointsToAnalysis &points_to_;
  std::map<Object, std::uint32_t> barriers_; // by number
  llvm::DenseMap<const llvm::CallBase *, std::uint32_t> waits_;
  std::vector<bool> trusted_;                                 // by barrier
  std::map<const llvm::Function *, State> does_;              // functions that may wait
  llvm::DenseMap<const llvm::BasicBlock *, State> before_;    // since their functions began
  std::vector<std::map<const llvm::Function *, State>> when_; // by entry: when functions begin
};

} // namespace tandem
