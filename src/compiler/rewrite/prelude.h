// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands before the sections in a rewritten source: locks in C of our own, on pthreads.
#pragma once

#include "compiler/rewrite/plan.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tandem::rewrite {

// Names of the output that no source uses for anything else.
struct Names {
  std::string lock_type;   // MutexLock or SharedLock
  std::string initialiser; // MUTEX_LOCK or SHARED_LOCK
  std::string exclusive_lock;
  std::string shared_lock;
  std::string unlock;
  std::string hold_exclusive; // until the block is left, whichever way
  std::string hold_shared;
  std::string take; // what the two above are made of
  std::string unlock_held;
  std::string result;
  std::map<std::string, std::string> colours; // variable of each
};

// `taken` says whether a source knows the identifier; `everywhere`: the locks have external
// linkage.
Names choose_names(const std::set<std::string> &colours, Mode mode, bool everywhere,
                   const std::function<bool(const std::string &)> &taken);

enum class Linkage { internal, defined, external };

struct PreludeNeeds {
  Mode mode = Mode::hybrid;
  std::vector<std::string> colours; // in order; none: no locks
  Linkage linkage = Linkage::internal;
  bool shared = false;         // some section takes a lock shared
  bool held_exclusive = false; // some section is left by jumps
  bool held_shared = false;
  bool transactions = false;
  bool includes_pthread = false; // the source does so already
  std::vector<std::string> declarations;
};

// Empty where nothing is needed; else with an empty line at its end.
std::string prelude(const PreludeNeeds &needs, const Names &names);

} // namespace tandem::rewrite
