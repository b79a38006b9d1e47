// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phases: which threads may exist while another one is at an instruction, from where threads are
// created and joined. A thread of which there may be only one at a time, main above all, is
// followed from its begin through all that it calls: a place that creates threads adds those, and
// what they create; a join takes away what was created in that place, if it is the same thread for
// certain (one variable, or an array that two loops of one length go through). BarrierRounds keep
// apart what threads do in between (barrier_rounds.h).
//
// For advice, not for soundness: two loops that have one bound are taken to run as often, and what
// a handle holds is what was last created with it.
#pragma once

#include "compiler/findings/alternatives.h"
#include "compiler/findings/barrier_rounds.h"
#include "compiler/findings/joins.h"
#include "compiler/points_to/points_to.h"
#include "compiler/sharing/sharing.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Module.h"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace tandem {

class Phases {
public:
  using Sites = llvm::BitVector; // of places that create threads, by number

  // All arguments outlive this object.
  Phases(const llvm::Module &module, const PointsToAnalysis &points_to, const Sharing &sharing,
         JoinMode mode = JoinMode::certain);

  // Whether a thread of entry `other` may exist while one of `entry` is at `instruction`.
  [[nodiscard]] bool may_exist(std::uint32_t other, std::uint32_t entry,
                               const llvm::Instruction &instruction);
  // Whether threads of two entries, or two of one, may exist at the same time.
  [[nodiscard]] bool may_coexist(std::uint32_t a, std::uint32_t b);
  // Whether threads of `a` at one instruction and of `b` at the other may be there together.
  [[nodiscard]] bool may_meet(std::uint32_t a, const llvm::Instruction &at, std::uint32_t b,
                              const llvm::Instruction &other);

  // The same, and also if joins behind conditions count as made (JoinMode::likely), code outside of
  // a whole program creates no threads, and of alternatives one is chosen (alternatives.h). Not two
  // that code outside of the program runs, or signals: by which threads the text does not tell.
  [[nodiscard]] bool certainly_meet(std::uint32_t a, const llvm::Instruction &at, std::uint32_t b,
                                    const llvm::Instruction &other);

  // Whether the program itself says that threads of the entry exist: not where only code outside of
  // a whole program might run it, nor where what is to be a signal handler takes no signal.
  [[nodiscard]] bool is_known(std::uint32_t entry) const;

  // Whether threads are created or joined, or wait at a barrier, in a function or in what it calls.
  [[nodiscard]] bool changes_in(const llvm::Function &function) const {
    return does_.contains(&function) || barriers_.matter_in(function);
  }

  // Whether a call creates or joins threads, or may lead to that.
  [[nodiscard]] bool changes_at(const llvm::CallBase &call) const;

  // The calls that create threads of the entry.
  [[nodiscard]] std::vector<const llvm::CallBase *> creations_of(std::uint32_t entry) const;

  // For ways of one's own through the program: the phases that certainly_meet() asks; whether they
  // follow an entry; where the entry's threads are created; which threads exist when one of it
  // begins, and at an instruction, if those of `entered` did when its function was entered.
  [[nodiscard]] Phases &likely();
  [[nodiscard]] bool is_followed(std::uint32_t entry) const;
  [[nodiscard]] const Sites &sites_of(std::uint32_t entry) const { return sites_of_[entry]; }
  [[nodiscard]] Sites at_begin(std::uint32_t entry) const;
  [[nodiscard]] Sites at(const llvm::Instruction &instruction, Sites entered) const;
  // Whether a thread of `other` may run while one of `entry` and threads of `sites` exist.
  bool may_run(std::uint32_t other, std::uint32_t entry, const Sites &sites);

private:
  // Whether code outside of the program decides in which thread the entry runs.
  [[nodiscard]] bool is_run_by_others(std::uint32_t entry) const;

  // What code does to the threads that exist: those of `ends` are gone, those of `begins` are
  // there.
  struct Change {
    Sites begins;
    Sites ends;
    bool operator==(const Change &) const = default;
  };
  struct Followed {
    bool known = false;
    std::map<const void *, Sites> before; // functions, and arrays of functions
  };

  [[nodiscard]] llvm::ArrayRef<const llvm::Function *> targets_of(const llvm::CallBase &call) const;
  void find_shadows();
  void find_ends();
  void find_later();
  void find_starters(const llvm::Module &module);
  void find_own();
  void summarise();
  using Edge = std::pair<const llvm::BasicBlock *, const llvm::BasicBlock *>;
  const std::map<Edge, std::vector<const llvm::CallBase *>> &
  without(const llvm::Function &function);
  bool run(const llvm::Function &function);
  void end(std::uint32_t site, Change &state) const;
  void step(const llvm::Instruction &instruction, Change &state) const;
  [[nodiscard]] Change before(const llvm::Instruction &instruction) const;
  void follow(std::uint32_t entry);
  [[nodiscard]] bool may_exit(const llvm::CallBase &call) const;
  const Sites &at_ends();
  bool another_exits();
  void note_creations(std::uint32_t entry, const Sites &at, const llvm::Function &function);
  [[nodiscard]] bool are_alternatives(std::uint32_t entry, const llvm::Instruction &at,
                                      std::uint32_t other) const;
  void merge(Change &into, const Change &other) const;

  const llvm::Module &module_;
  const PointsToAnalysis &points_to_;
  const Sharing &sharing_;
  std::unique_ptr<Phases> likely_; // by JoinMode::likely; null until it is asked for
  const bool likely_only_;         // this is another one's likely_
  const Joins joins_;
  const Alternatives alternatives_;
  const BarrierRounds barriers_;
  const unsigned count_; // of sites
  // Entries that the system runs at the end, in the thread that ends the process: beside main only
  // where there is another thread.
  std::vector<bool> at_end_;
  Sites registers_;              // sites that only say what is to be run then
  std::optional<Sites> at_ends_; // of threads that may exist when the process ends
  bool another_exits_ = false;   // a thread but main's may end the process
  // Of likely phases: entries that a library runs in threads which call into it, and sites of
  // threads that do. Beside main they are only where there is such a thread.
  std::vector<bool> later_;
  Sites calls_back_;
  // Entries that are there only because memory with functions in it leaves the program with a
  // std::thread: its state's other functions, its _M_run as a function that others may call, and
  // functions that are only handed to the library.
  std::vector<bool> shadows_;
  std::vector<Sites> starts_;                       // by site: it, and all that its threads create
  std::vector<std::vector<std::uint32_t>> runs_;    // by site: the entries that its threads run
  std::vector<Sites> sites_of_;                     // by entry: where its threads are created
  std::vector<std::vector<std::uint32_t>> creates_; // by site: the entries that may create there
  std::vector<Sites> own_;                          // by entry: sites of it and its descendants
  // Functions that create or join, or lead to that: what they do, and what was done before each of
  // their blocks.
  std::map<const llvm::Function *, Change> does_;
  // Functions that lead to each function.
  std::map<const llvm::Function *, std::vector<const llvm::Function *>> callers_;
  // Of likely phases, by function: where there is no object that a call would get.
  std::map<const llvm::Function *, std::map<Edge, std::vector<const llvm::CallBase *>>> without_;
  llvm::DenseMap<const llvm::BasicBlock *, Change> done_;
  std::vector<Followed> followed_;                // by entry
  std::vector<Sites> beside_;                     // by site: those that exist when it creates
  Sites settled_;                                 // sites of which that is known
  std::vector<const llvm::Function *> functions_; // of does_, callees mostly first
};

} // namespace tandem
