// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places in the source, values that are computed alike, and the order of instructions.
#pragma once

#include "compiler/report/report.h"

#include "llvm/IR/Instructions.h"

#include <string>

namespace tandem {

struct Place {
  std::string file; // empty where the program has no debug information there
  std::uint32_t line = 0;
  [[nodiscard]] std::string print() const; // "file:line"
  auto operator<=>(const Place &) const = default;
};

// Where an instruction is, or its function where it has no place of its own.
Place place_of(const llvm::Instruction &instruction);

// The same as a place from the report's "file:line"; without a line where it has none.
Place parse_place(const std::string &text);

ReportFinding finding_at(std::string rule, const Place &place, std::string message);
ReportNote note_at(const Place &place, std::string message);

// The only store to a variable at an address; null where there is none, or are several.
const llvm::StoreInst *only_store(const llvm::Value &variable);

// Whether two values of one function are computed by the same operations from the same constants,
// arguments, globals and memory; what the memory holds may differ (see may_change).
bool same_computation(const llvm::Value &a, const llvm::Value &b);

// Whether `store` may change what `value` reads when it is computed again: it stores to memory by
// the address that one of the value's loads has.
bool may_change(const llvm::StoreInst &store, const llvm::Value &value);

} // namespace tandem
