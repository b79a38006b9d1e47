// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each thread of one kind was given when it was created: an argument that no other of them
// has, and what is reached from there.
#pragma once

#include "compiler/findings/access.h"
#include "compiler/findings/findings.h"

#include <map>

namespace tandem {

class OwnArguments {
public:
  explicit OwnArguments(const AnalysisView &view) : view_(view) {}

  // Whether two accesses of the entry's threads are both to what each of these was given.
  bool guard(const Entry &entry, const Access &one, const Access &other);
  // Whether a pointer is computed from the argument of the entry's threads, in the function that
  // they begin with or in one that is only called, by name, with what is.
  static bool leads_from(const Entry &entry, const llvm::Value &pointer);

private:
  bool are_apart(const Entry &entry);

  const AnalysisView &view_;
  std::map<const llvm::Function *, bool> known_; // of functions that threads begin with
};

} // namespace tandem
