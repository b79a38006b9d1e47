// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Classes of locks: which of a program's locks are told apart. A class is a global variable, one
// element of an array or all of them, or the field of a struct type; a lock that is only known by a
// pointer belongs to the class that the pointer denotes, if that is one. A semaphore that begins
// with one counts as a lock, and so does the control of a function that runs once.
//
// For advice, not for soundness: two locks of one class count as one.
#pragma once

#include "compiler/points_to/element_set.h"
#include "compiler/points_to/points_to.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tandem {

struct LockClass {
  std::string name; // as the source names the first of its locks
  bool many = true; // may be several locks: elements of an array, fields of several objects
  // Known only by a pointer that may denote locks of several classes, or of none.
  bool unknown = false;
  bool several = false;   // unknown, and known to be one of several variables
  bool semaphore = false; // no section is about it
  bool once = false;      // no lock: the control of a function that runs once
};

using LockSet = ElementSet; // of classes

class LockClasses {
public:
  LockClasses(const llvm::Module &module, const LockCalls &locks,
              const PointsToAnalysis &points_to);

  [[nodiscard]] const std::vector<LockClass> &all() const { return classes_; }
  // `site` is one of the LockCalls' that is not inside a wrapper.
  [[nodiscard]] const LockSet &of(const LockSite &site) const;
  // Whether locks of two classes may be one lock: they have the same memory.
  [[nodiscard]] bool may_be_one(std::uint32_t a, std::uint32_t b) const {
    return a == b || may_be_one_.contains({a, b});
  }

  // The controls of calls that is_once, by call.
  [[nodiscard]] const std::map<const llvm::CallBase *, std::uint32_t> &once() const {
    return once_;
  }

  // The calls that acquire or release a semaphore that counts as a lock, in the module's order.
  struct SemaphoreCall {
    const llvm::CallBase *call;
    std::uint32_t semaphore;
    bool releases;
  };
  [[nodiscard]] const std::vector<SemaphoreCall> &semaphores() const { return semaphores_; }

  // The program's calls of templates of the C++ library that acquire a lock inside, and the class
  // of what they acquire: which lock it is is not known.
  [[nodiscard]] const std::vector<const llvm::CallBase *> &hidden() const { return hidden_; }
  [[nodiscard]] std::optional<std::uint32_t> any() const { return any_; }

private:
  class Classifier;

  std::uint32_t class_with(const std::string &key, LockClass klass);
  void find_once(const llvm::Module &module);
  void find_semaphores(const llvm::Module &module);
  void find_hidden(const llvm::Module &module);

  const PointsToAnalysis &points_to_;
  std::vector<LockClass> classes_;
  std::map<std::string, std::uint32_t> by_key_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> may_be_one_;
  llvm::DenseMap<const llvm::Instruction *, LockSet> classes_of_; // of lock sites
  std::map<const llvm::CallBase *, std::uint32_t> once_;
  std::vector<SemaphoreCall> semaphores_;
  std::vector<const llvm::CallBase *> hidden_;
  std::optional<std::uint32_t> any_;
};

} // namespace tandem
