// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What gcc accepts in __transaction_atomic (measured with gcc 12, -O0 and -O2: what it accepts at
// one of them only counts as refused), and what it must be told so that it does. What it accepts
// and compiles wrongly counts as refused too: bit-fields
// (docs/design/0069-inputs-and-outputs-of-others.md).
#pragma once

#include "compiler/catalogue/catalogue.h"
#include "compiler/rewrite/program.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tandem::rewrite {

// Why gcc would refuse a section.
struct Refusal {
  std::string what;               // "call of 'strlen'"
  std::string place;              // "file:line"
  std::vector<std::string> chain; // functions from the section to the one that has it
  bool miscompiled = false;       // it is accepted, and wrong

  // "gcc accepts no call of 'strlen' in a transaction", or that it compiles it wrongly.
  [[nodiscard]] std::string reason() const;
};

// What a section needs to be a transaction.
struct Needs {
  std::optional<Refusal> refusal; // nothing helps
  // By source: functions outside of the sources that touch no memory, to be declared so.
  std::set<std::pair<std::size_t, std::string>> pure;
  std::set<FunctionId> runs;   // all functions that may run in it
  std::set<FunctionId> across; // those that a function of another source calls
};

Needs needs_of(const Program &program, const Catalogue &catalogue, const SectionId &section);

} // namespace tandem::rewrite
