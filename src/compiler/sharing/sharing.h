// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sharing: the ways into a program that may run beside each other, and what code each of them runs.
// Entries are main, the functions that threads start with (pthread_create, thrd_create,
// std::thread, OpenMP's outlined regions), signal handlers, callbacks that a library runs when it
// likes, what the system runs when the process ends, and functions that code outside the program
// may call: exported ones of a shared library, and those whose address leaves the program. What
// runs before main (constructors, .init_array) is run by main's thread, and belongs to main; in a
// shared library it is a callback, since other threads exist when it is loaded.
#pragma once

#include "compiler/points_to/components.h"
#include "compiler/points_to/points_to.h"
#include "compiler/points_to/program_start.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instruction.h"

#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace tandem {

enum class EntryKind { main, thread, signal_handler, callback, exported };
std::string_view to_string(EntryKind kind); // as ReportThread::kind

struct Entry {
  const llvm::Function *function = nullptr;
  EntryKind kind = EntryKind::main;
  bool many = false; // several threads may run it at once
};

// Entries by number, ascending.
using EntrySet = std::vector<std::uint32_t>;

class Sharing {
public:
  // `module` and `points_to` outlive this object.
  Sharing(const llvm::Module &module, const PointsToAnalysis &points_to);

  [[nodiscard]] const std::vector<Entry> &entries() const { return entries_; }
  // Functions that code outside the program may call.
  [[nodiscard]] std::vector<const llvm::Function *> called_from_outside() const;
  // What the system runs by itself, before main and after it.
  [[nodiscard]] const ProgramStart &start() const { return start_; }

  // The entries whose threads may run an instruction, or a part of a function, while another thread
  // of the program may exist. What main, or a constructor, does before the first thread is started
  // belongs to none; so does what nothing calls. Equal sets are one object.
  [[nodiscard]] const EntrySet &entries_of(const llvm::Instruction &instruction) const;
  [[nodiscard]] const EntrySet &entries_of(const llvm::Function &function) const;

  // Whether two different threads may be in code of these entries at the same time.
  [[nodiscard]] bool may_overlap(const EntrySet &a, const EntrySet &b) const;

private:
  void find_entries(const llvm::Module &module);
  void add_start(const llvm::Module &module);
  void add_entry(const llvm::Function &function, EntryKind kind, bool many);
  [[nodiscard]] bool runs_once(const llvm::CallBase &call) const;
  [[nodiscard]] bool is_threads_run(const llvm::Function &function) const;
  void find_creators();
  void find_callers(const llvm::Module &module);
  void run(const llvm::Function &function, std::uint32_t entry);
  void run_first_thread();
  void run_from(const llvm::Function &root);
  void run_callees();
  std::uint32_t unite(std::uint32_t a, std::uint32_t b);
  std::uint32_t set_number(EntrySet set);
  [[nodiscard]] bool creates(const llvm::CallBase &call) const;

  const PointsToAnalysis &points_to_;
  const ProgramStart start_;
  std::vector<Entry> entries_;
  ProgramCalls calls_;
  // Two calls of each function, where it has so many.
  llvm::DenseMap<const llvm::Function *, llvm::SmallVector<const llvm::CallBase *, 2>> callers_;
  std::set<const llvm::CallBase *> spawning_;
  std::set<const llvm::Function *> creators_; // may start a thread
  // Sets by number; 0 is empty.
  std::deque<EntrySet> sets_{EntrySet{}};
  std::map<EntrySet, std::uint32_t> set_numbers_{{EntrySet{}, 0}};
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> unions_;
  llvm::DenseMap<const llvm::Function *, EntrySet> begins_; // what runs a function other than calls
  llvm::DenseMap<const llvm::Function *, std::uint32_t> functions_; // numbers of sets
  // Functions of which main runs a part after the first thread was started: that part, and the
  // entries of its instructions.
  std::map<const llvm::Function *, llvm::DenseSet<const llvm::Instruction *>> after_;
  std::map<const llvm::Function *, std::uint32_t> after_entries_;
};

} // namespace tandem
