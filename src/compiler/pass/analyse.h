// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The analysis of one linked program: module in, report out. Reads the module only.
#pragma once

#include "compiler/catalogue/catalogue.h"
#include "compiler/enforce/cancels.h"
#include "compiler/observe/tables.h"
#include "compiler/options/options.h"
#include "compiler/report/report.h"
#include "compiler/sections/section.h"

#include "llvm/IR/Module.h"

#include <optional>
#include <set>
#include <vector>

namespace tandem {

// What the analysis found, for whoever goes on to transform the module: section i of `sections` is
// section i of `report.sections`.
struct Analysis {
  std::vector<Section> sections;
  Report report;
  std::vector<const llvm::LoadInst *> unwritten_reads; // for transactions: see Effects
  std::set<const llvm::Instruction *> mixed_atomics;   // see Effects
  std::set<const llvm::Function *> reached;            // see Effects
  Cancels cancels;                                     // of the same sections
  std::vector<std::uint32_t> parts;                    // of the same sections (parts.h)
  std::optional<Result<Observation>> observation;      // where options.check_effects
};

// Analyses `module`, the whole program as far as it is bitcode. `options.link_inputs` tells what
// else is linked in.
Analysis analyse_program(llvm::Module &module, const PassOptions &options,
                         const Catalogue &catalogue);

// The report alone.
Report analyse(llvm::Module &module, const PassOptions &options, const Catalogue &catalogue);

} // namespace tandem
