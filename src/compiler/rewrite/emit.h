// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rewritten sources, as text.
#pragma once

#include "base/result.h"
#include "compiler/rewrite/gcc.h"
#include "compiler/rewrite/plan.h"
#include "compiler/rewrite/program.h"

#include <map>
#include <string>
#include <vector>

namespace tandem::rewrite {

// What is decided of a program.
struct Decisions {
  Mode mode = Mode::hybrid;
  std::map<SectionId, Guard> guards; // of every section; empty ones guard nothing
  std::map<FunctionId, Context> contexts;
  Needs needs; // of all sections that are transactions, together
};

// One text for each source, in their order. All that no section touches is as it was, byte for
// byte, but for marks and the line that includes tandem/tandem.h.
std::vector<std::string> emit(const Program &program, const Decisions &decisions);

} // namespace tandem::rewrite
